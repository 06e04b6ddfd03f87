// What keeps a pod off, by groups of nodes that are blocked alike.
import type { Explanation } from '../api/types'
import { few } from '../words'

export function Causes({ blocked }: { blocked: NonNullable<Explanation['blocked']> }) {
  if (!blocked.length) return null
  return (
    <div class="why">
      <table>
        <caption class="vh">Why, by group of nodes</caption>
        <thead>
          <tr>
            <th>#</th>
            <th>Nodes</th>
            <th>What keeps the pod off</th>
          </tr>
        </thead>
        <tbody>
          {blocked.map((group) => (
            <tr>
              <td>{group.nodes.length}</td>
              <td title={group.nodes.join(', ')}>{few(group.nodes)}</td>
              <td>
                {group.causes.map((cause) => (
                  <div>
                    <span>{cause.plugin}</span>
                    {cause.text}
                  </div>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
