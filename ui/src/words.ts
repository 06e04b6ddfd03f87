// Numbers and times as people say them.

const WHOLE = new Intl.NumberFormat('en')
export const number = (value: number): string => WHOLE.format(value)
export const count = (n: number, one: string, many = `${one}s`): string => `${number(n)} ${n === 1 ? one : many}`

const GI = 2 ** 30
/** Bytes as Kubernetes writes them, rounded to what matters. */
export const memory = (bytes: number): string =>
  bytes >= 1024 * GI ? `${number(Math.round((bytes / GI / 1024) * 10) / 10)} Ti` : `${number(Math.round(bytes / GI))} Gi`
export const cores = (value: number): string => number(Math.round(value * 10) / 10)

/** "12 s", "8 min", "3 h", "5 days" */
export function ago(time: string | Date, now: Date): string {
  const seconds = Math.max(0, Math.round((now.getTime() - new Date(time).getTime()) / 1000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`
  return `${Math.floor(seconds / 86400)} days`
}

export const clock = (time: string | Date, seconds = false): string =>
  new Date(time).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', ...(seconds ? { second: '2-digit' } : {}) })

/** "7 Nov" */
export const day = (time: string | Date): string => new Date(time).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })

/** What the scheduler says, without what it tried and why that did not help either. */
export const brief = (message: string): string => message.replace(/\.? no new claims to deallocate.*$/s, '.').replace(/\.? preemption: .*$/s, '.').replace(/; what would help: /, '. ')

/** With a full stop, as another sentence follows. */
export const ended = (sentence: string): string => (/[.!?]$/.test(sentence) ? sentence : `${sentence}.`)

/** Begun with a capital, unless a name stands there, and ended. */
export const sentence = (text: string): string => ended(/^[a-z]+ /.test(text) ? text[0]!.toUpperCase() + text.slice(1) : text)

/** "a", "a and b", "a, b and 4 more" */
export function few(names: readonly string[], most = 3): string {
  if (names.length <= most) return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
  return `${names.slice(0, most - 1).join(', ')} and ${number(names.length - most + 1)} more`
}
