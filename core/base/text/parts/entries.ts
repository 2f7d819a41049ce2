/** Entries of lists and maps whose name stands in a line above them, as YAML has it. */
import { entryName, isNameMember, isTelling, isValueMember, memberName, type Named } from './told.js'

const line = new RegExp(
  '^(?<indent> {0,200})(?<dash>(?:- {1,20})?)' +
    '(?:["\']?(?<own>\\.?[A-Za-z_][\\w.-]{0,100})["\']?:(?:[ \\t]+|$))?(?<value>.*)$',
  'u',
)

/** A list or map, and how deep its name stands: what belongs to it stands deeper. */
interface Holder {
  readonly depth: number
  readonly called: string
  /** What an entry that has its name in one line calls the value in another. */
  named?: string
}

/** What stands in quotes, or before a comment, behind tags and anchors. */
const plain = (written: string): string => {
  const value = written.replace(/^(?:[!&][^\s]{0,60}[ \t]{1,8}){1,2}/u, '')
  const { double, single } = /^(?:"(?<double>[^"]*)"|'(?<single>[^']*)')/u.exec(value)?.groups ?? {}
  return double ?? single ?? value.replace(/(?:^|[ \t])#.*$/u, '').trimEnd()
}

const nameOf = (own: string, list: string, holder?: Holder): string =>
  holder?.named !== undefined && isValueMember(own) ? holder.named : memberName(own, list)
const tellName = (name: string, holder?: Holder): void => {
  if (holder === undefined) return
  if (isTelling(name)) holder.named = name
  else delete holder.named
}

const readLine = (raw: string, above: Holder[], into: Named[]): void => {
  const { indent = '', dash = '', own, value: written = '' } = line.exec(raw)?.groups ?? {}
  const value = plain(written)
  // A dash may stand as deep as the name of its list.
  const depth = indent.length + (dash === '' ? 0 : 1)
  while (above.length > 0 && (above.at(-1)?.depth ?? 0) >= depth) above.pop()
  const list = above.at(-1)?.called ?? ''
  const holder = dash === '' ? list : entryName(list)
  if (dash !== '') above.push({ depth, called: holder })
  const called = own === undefined ? holder : nameOf(own, holder, above.at(-1))
  if (own !== undefined && isNameMember(own)) tellName(value, above.at(-1))
  if (value === '') above.push({ depth: indent.length + dash.length, called })
  else if ((dash !== '' || own !== undefined) && called !== own && isTelling(called)) into.push({ called, value })
}

export const entriesBelow = (text: string): readonly Named[] => {
  const [above, found]: [Holder[], Named[]] = [[], []]
  for (const raw of text.split(/\r?\n/u)) if (raw.trim() !== '') readLine(raw.trimEnd(), above, found)
  return found
}
