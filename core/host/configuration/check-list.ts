/** The file of a list, looked at without a daemon. */
import { memberIn } from '../../base/issue-rule.js'
import { parse } from '../../base/parse.js'
import { isJsonObject, type JsonObject } from '../../base/schema.js'
import type { ListSpec } from '../../plugin/list.js'
import { noFiles } from '../load/config-bytes.js'
import { lineOf } from '../load/toml-line.js'
import { lineIn, tomlOf } from '../load/toml.js'
import { besideTables, placeOf, wholeFile } from './list-parts.js'
import { createLists } from './lists.js'

/** What is wrong with a file, as a daemon would say it. */
export interface ListFault {
  /** Such as `[routes.fast]`; empty for the file as a whole, and what stands beside its entries. */
  readonly place: string
  /** The name of the entry; empty likewise. */
  readonly name: string
  /** From 1; undefined where it is about no line. */
  readonly line: number | undefined
  /** Without quoting a value. */
  readonly rule: string
}

/** What is wrong with an entry as a whole, which is not looked at while members of it are wrong. */
const hiddenBy = <T, B>(
  spec: ListSpec<T, B>,
  name: string,
  { table, told, beside }: { readonly table: JsonObject; readonly told: string; readonly beside: B | undefined },
): readonly string[] => {
  const all = spec.table === undefined ? table : table[spec.table]
  const given = isJsonObject(all) ? all[name] : undefined
  if (!isJsonObject(given)) return []
  const wrong = new Set(told.split('; ').map((rule) => memberIn(rule).split('.')[0]))
  const whole = parse(spec.entry, Object.fromEntries(Object.entries(given).filter(([member]) => !wrong.has(member))))
  const fault = whole.ok ? spec.fault?.(name, whole.value, beside) : undefined
  return fault === undefined || fault === told ? [] : fault.split('; ')
}

/** Everything that is wrong with the text of a file of this list; nothing where a daemon would take all of it. */
export const checkList = <T, B>(spec: ListSpec<T, B>, text: string): readonly ListFault[] => {
  const read = tomlOf(text)
  if (!read.ok) return [{ place: '', name: '', line: lineIn(read.problem), rule: read.problem }]
  // What no start may leave out is told as all else.
  const { isVital: _, ...rest } = spec
  const lists = createLists({ disk: noFiles, root: '', given: { [spec.file]: read.table } })
  const { list } = lists.open({ id: spec.file }, rest)
  return [...list.wrong()].flatMap(([name, told]) => {
    const isBeside = name === wholeFile || name === besideTables
    const around = isBeside ? [] : [spec.table ?? '', name]
    const rules = isBeside
      ? [told]
      : [...told.split('; '), ...hiddenBy(spec, name, { table: read.table, told, beside: list.beside() })]
    return rules.map((rule) => ({
      place: isBeside ? '' : placeOf(spec, name),
      name: isBeside ? '' : name,
      line: lineOf(text, [...around, memberIn(rule)].filter((part) => part !== '').join('.')),
      rule,
    }))
  })
}
