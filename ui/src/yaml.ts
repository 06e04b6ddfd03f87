// YAML for people to read and to paste.

/** Plain YAML of plain data: what kubectl reads back. Strings that could be read as something else are quoted. */
export function yaml(value: unknown, indent = ''): string {
  if (Array.isArray(value)) return value.length ? value.map((each) => `${indent}- ${yaml(each, `${indent}  `).replace(/^\s+/, '')}`).join('') : `${indent}[]\n`
  if (value && typeof value === 'object') {
    const entries = Object.entries(value)
    if (!entries.length) return `${indent}{}\n`
    return entries
      .map(([key, each]) => {
        const nested = each && typeof each === 'object' && Object.keys(each).length > 0
        return `${indent}${scalar(key)}:${nested ? `\n${yaml(each, Array.isArray(each) ? indent : `${indent}  `)}` : ` ${yaml(each).trimStart()}`}`
      })
      .join('')
  }
  return `${indent}${scalar(value)}\n`
}

const scalar = (value: unknown): string =>
  typeof value === 'string' && (/^[\s\-?:,[\]{}#&*!|>'"%@`]|[:#]\s|\s$|^$|^(true|false|null|yes|no|on|off|~)$|^[\d.+-]/i.test(value) || value.includes('\n') || value.endsWith(':')) ? JSON.stringify(value) : String(value)
