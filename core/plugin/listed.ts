/** Lists on the command line: a page at a time, and what is not shown is told. */
import {
  array,
  boolean,
  integer,
  isJsonObject,
  open,
  optional,
  string,
  type Json,
  type StructOf,
} from '../base/schema.js'
import { visibleLine } from '../base/text/visible.js'
import type { CommandFlag, CommandInput } from './command.js'
import { showWrong, wrongField } from './wrong-entries.js'

/** Where a list goes on. */
export const cursorFlag: Readonly<Record<'cursor', CommandFlag>> = {
  cursor: { kind: 'text', value: 'cursor', summary: 'Go on where the list before ended.' },
}

/** The same, and how much of it is shown. */
export const pageFlags: Readonly<Record<'cursor' | 'limit', CommandFlag>> = {
  limit: { kind: 'text', value: 'number', summary: 'Most rows to show.' },
  ...cursorFlag,
}

export interface ListedRows<T> {
  items: T[]
  pagination: { total_count: number; has_more: boolean; next_cursor?: string | undefined }
  /** Present if the line says which rows it wants. */
  filtered?: boolean | undefined
  /** Present if `withWrong` found something. */
  wrong?: string[] | undefined
}

/** The answer of a list route, as `readRows` gives it for people. */
export const listedRows = <T>(row: StructOf<T>): StructOf<ListedRows<T>> =>
  open({
    items: array(row),
    pagination: open({ total_count: integer(), has_more: boolean(), next_cursor: optional(string()) }),
    filtered: optional(boolean()),
    wrong: wrongField,
  })

const given = (flags: CommandInput['flags'], name: string): string =>
  typeof flags[name] === 'string' ? `&${name}=${encodeURIComponent(flags[name])}` : ''

/** Flags of lists that leave no row out that would be there without them. */
const widening: ReadonlySet<string> = new Set(['cursor', 'limit', 'include-purged'])
const isFiltered = (flags: CommandInput['flags']): boolean =>
  Object.entries(flags).some(([name, value]) => value !== undefined && !widening.has(name))

/** A page of a list route, with `--cursor`, and with `--limit` where the path has none; for programs its rows alone. */
export const readRows = async (
  { client, flags, output }: Pick<CommandInput, 'client' | 'flags' | 'output'>,
  path: string,
): Promise<Json> => {
  const wishes = given(flags, 'cursor') + (/[?&]limit=/u.test(path) ? '' : given(flags, 'limit'))
  const answer = await client.get(`${path}${path.includes('?') ? '&' : '?'}page=true${wishes}`)
  if (!isJsonObject(answer)) return answer
  if (output === 'json') return answer['items'] ?? answer
  return isFiltered(flags) ? { ...answer, filtered: true } : answer
}

/** The rows, and that there are more of them; that there are none at all is told only where all were asked for. */
export const showRows =
  <T>(show: (rows: T[]) => string) =>
  ({ items, pagination: { total_count, next_cursor }, filtered, wrong }: ListedRows<T>): string => {
    const none = filtered === true ? 'None of them is as the line asks.' : show([])
    const rows = items.length === 0 ? [] : [show(items)]
    const more =
      next_cursor === undefined ? [] : [`There are more, ${total_count} in all: --cursor ${visibleLine(next_cursor)}`]
    return showWrong([...rows, ...more], none, wrong).join('\n')
  }

/** The same of a list that can be searched, with `--query`. */
export const searchedRows = (input: Pick<CommandInput, 'client' | 'flags' | 'output'>, path: string): Promise<Json> => {
  const { query } = input.flags
  return readRows(input, typeof query === 'string' ? `${path}?query=${encodeURIComponent(query)}` : path)
}
