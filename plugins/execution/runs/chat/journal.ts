/** What the journal of a session says of one run, each entry once. */
import {
  array,
  boolean,
  json,
  nullable,
  number,
  open,
  optional,
  parse,
  string,
  type Client,
  type Infer,
  type Json,
} from '../../../../core/plugin.js'
import { ShownFile } from '../../../media/assets/contract.js'
import { ShownOutput } from '../terminal/run-text.js'

const Part = open({
  type: string(),
  text: optional(string()),
  id: optional(string()),
  name: optional(string()),
  input: optional(json()),
})
const Resolution = open({
  request_id: string(),
  behavior: optional(string()),
  declined: optional(boolean()),
  decided_by: optional(string()),
})
export type Resolved = Infer<typeof Resolution>
const Entry = open({
  seq: number(),
  run_id: string(),
  type: string(),
  entry: open({
    message: optional(open({ role: string(), content: array(Part) })),
    tool_call_id: optional(string()),
    tool_name: optional(string()),
    audit: optional(open({ tool_name: string(), grant_id: optional(string()), reason: optional(nullable(string())) })),
    state: optional(string()),
    output: optional(json()),
    files: optional(array(ShownFile)),
    event: optional(
      open({
        type: string(),
        output: optional(ShownOutput),
        resolutions: optional(array(Resolution)),
        resolution: optional(Resolution),
      }),
    ),
  }),
})
const Page = open({ session: open({ journal: array(json()) }) })
const Numbered = open({ seq: number() })
export type JournalRow = Infer<typeof Entry>

/** Kinds of entries that say nothing here have other things under the same names: they are left out. */
const readRow = (row: Json): JournalRow[] => {
  const parsed = parse(Entry, row)
  return parsed.ok ? [parsed.value] : []
}

export interface Journal {
  /** Entries of the run that were not read before. */
  news(run_id: string): Promise<readonly JournalRow[]>
}

export const sessionPath = (session_id: string): string => `/v1/sessions/${encodeURIComponent(session_id)}`

/** Of entries beyond `after`; without it of the newest that there are. */
export const createJournal = (client: Client, session_id: string, after: number | undefined): Journal => {
  let last = after
  const page = async (): Promise<readonly Json[]> => {
    const query = last === undefined ? '' : `?after=${last}`
    const parsed = parse(Page, await client.get(`${sessionPath(session_id)}/events${query}`))
    const rows = parsed.ok ? parsed.value.session.journal : []
    const newest = parse(Numbered, rows.at(-1))
    last = newest.ok ? newest.value.seq : (last ?? 0)
    return rows
  }
  return {
    async news(run_id) {
      const found: JournalRow[] = []
      for (let rows = await page(); rows.length > 0; rows = await page())
        found.push(...rows.flatMap(readRow).filter((row) => row.run_id === run_id))
      return found
    },
  }
}
