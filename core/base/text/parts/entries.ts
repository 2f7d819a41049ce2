/** Entries of lists and maps whose name stands in a line above them, as YAML has it. */
import { entryName, isTelling, memberName, type Named } from './told.js'

const line = new RegExp(
  '^(?<indent> {0,200})(?<dash>(?:- {1,20})?)' +
    '(?:["\']?(?<own>\\.?[A-Za-z_][\\w.-]{0,100})["\']?:(?:[ \\t]+|$))?(?<value>.*)$',
  'u',
)

/** A list or map, and how deep its name stands: what belongs to it stands deeper. */
interface Holder {
  readonly depth: number
  readonly called: string
}

/** What stands in quotes, or before a comment. */
const plain = (value: string): string => {
  const { double, single } = /^(?:"(?<double>[^"]*)"|'(?<single>[^']*)')/u.exec(value)?.groups ?? {}
  return double ?? single ?? value.replace(/(?:^|[ \t])#.*$/u, '').trimEnd()
}

const readLine = (raw: string, above: Holder[], into: Named[]): void => {
  const { indent = '', dash = '', own, value: written = '' } = line.exec(raw)?.groups ?? {}
  const value = plain(written)
  // A dash may stand as deep as the name of its list.
  const depth = indent.length + (dash === '' ? 0 : 1)
  while (above.length > 0 && (above.at(-1)?.depth ?? 0) >= depth) above.pop()
  const list = above.at(-1)?.called ?? ''
  const holder = dash === '' ? list : entryName(list)
  const called = own === undefined ? holder : memberName(own, holder)
  if (dash !== '') above.push({ depth, called: holder })
  if (value === '') above.push({ depth: indent.length + dash.length, called })
  else if ((dash !== '' || own !== undefined) && called !== own && isTelling(called)) into.push({ called, value })
}

export const entriesBelow = (text: string): readonly Named[] => {
  const [above, found]: [Holder[], Named[]] = [[], []]
  for (const raw of text.split(/\r?\n/u)) if (raw.trim() !== '') readLine(raw.trimEnd(), above, found)
  return found
}
