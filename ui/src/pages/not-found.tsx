import { Blank } from '../parts/panel'
import { path } from '../router'

export function NotFound() {
  return (
    <main class="page">
      <h1 class="vh">Not found</h1>
      <Blank title="There is nothing at this address" text={<code>{path.value}</code>}>
        <div class="row">
          <a class="btn primary" href="/">
            To the fleet
          </a>
        </div>
      </Blank>
    </main>
  )
}
