/** The file of a list, looked at without a daemon. */
import type { ListSpec } from '../../plugin/list.js'
import { lineOf } from '../load/toml-line.js'
import { tomlOf } from '../load/toml.js'
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

/** The member that a rule begins with, else nothing. */
const memberIn = (rule: string): string => /^[\w.-]+/u.exec(rule)?.[0] ?? ''

/** Everything that is wrong with the text of a file of this list; nothing where a daemon would take all of it. */
export const checkList = <T, B>(spec: ListSpec<T, B>, text: string): readonly ListFault[] => {
  const read = tomlOf(text)
  if (!read.ok) {
    const line = Number(/line (\d+)/u.exec(read.problem)?.[1])
    return [{ place: '', name: '', line: Number.isNaN(line) ? undefined : line, rule: read.problem }]
  }
  // What no start may leave out is told as all else.
  const { isVital: _, ...rest } = spec
  const lists = createLists({ disk: { readFile: () => undefined }, root: '', given: { [spec.file]: read.table } })
  const { list } = lists.open({ id: spec.file }, rest)
  return [...list.wrong()].map(([name, rule]) => {
    const isBeside = name === wholeFile || name === besideTables
    const around = isBeside ? [] : [spec.table ?? '', name]
    return {
      place: isBeside ? '' : placeOf(spec, name),
      name: isBeside ? '' : name,
      line: lineOf(text, [...around, memberIn(rule)].filter((part) => part !== '').join('.')),
      rule,
    }
  })
}
