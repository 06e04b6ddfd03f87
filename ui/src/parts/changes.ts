// A change as lines: what goes, what comes, and of which object.
import type { Edit, Operation, Write } from '../api/types'

export interface Line { tone: '' | 'add' | 'del'; text: string }

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
const there = (value: unknown): boolean => value !== null && value !== undefined

/** A path as people read it: a slash within a name is a slash. */
const readable = (path: string): string => path.replaceAll('~1', '/').replaceAll('~0', '~')

const change = (name: string, before: unknown, after: unknown): Line[] => [
  ...(there(before) ? [{ tone: 'del', text: `- ${name}: ${shown(before)}` } as const] : []),
  ...(there(after) ? [{ tone: 'add', text: `+ ${name}: ${shown(after)}` } as const] : []),
]

export const editLines = ({ target, path, before, after }: Edit): Line[] => change(`${target} ${readable(path)}`.trim(), before, after)

/** What a write does, line by line: the tests of its patch say what is there before. */
export function writeLines({ verb, kind, namespace, name, body }: Write): Line[] {
  const object = `${kind} ${namespace ? `${namespace}/` : ''}${name}`
  if (verb === 'evict') return [{ tone: 'del', text: `- ${object} is evicted` }]
  if (verb === 'delete') return [{ tone: 'del', text: `- ${object} is deleted, if it still waits` }]
  const lines: Line[] = [{ tone: '', text: object }]
  let tests: Operation[] = []
  for (const operation of body ?? []) {
    if (operation.op === 'test') tests.push(operation)
    else {
      lines.push(...change(readable(operation.path), tested(tests, operation.path), operation.op === 'remove' ? undefined : operation.value))
      tests = []
    }
  }
  return lines
}

/** The value that tests ask for: as a whole, or its parts by their paths. */
function tested(tests: readonly Operation[], path: string): unknown {
  const whole = tests.find((test) => test.path === path)
  if (whole) return whole.value
  const parts = tests.filter((test) => test.path.startsWith(`${path}/`))
  return parts.length ? Object.fromEntries(parts.map((test) => [test.path.slice(path.length + 1), test.value])) : undefined
}
