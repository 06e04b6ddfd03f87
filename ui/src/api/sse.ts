// Server-sent events read from a fetch: EventSource cannot send a token, and a token in an address ends up in logs.

export interface Message { event: string; id: string; data: string }

/** Takes text as it comes and gives the messages that are complete. */
export class SseParser {
  // A first list is one long line that comes in many parts: they are joined once.
  #rest: string[] = []
  #id = ''
  #event = ''
  #data: string[] = []

  /** The id to resume after. */
  get lastId(): string {
    return this.#id
  }

  feed(text: string): Message[] {
    const found: Message[] = []
    this.#rest.push(text)
    if (!text.includes('\n')) return found
    const lines = this.#rest.join('').split('\n')
    this.#rest = [lines.pop() ?? '']
    for (const raw of lines) {
      const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
      if (line === '') {
        if (this.#data.length) found.push({ event: this.#event || 'message', id: this.#id, data: this.#data.join('\n') })
        this.#event = ''
        this.#data = []
        continue
      }
      if (line.startsWith(':')) continue
      const colon = line.indexOf(':')
      const field = colon < 0 ? line : line.slice(0, colon)
      const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1))
      if (field === 'data') this.#data.push(value)
      else if (field === 'event') this.#event = value
      else if (field === 'id') this.#id = value
    }
    return found
  }
}
