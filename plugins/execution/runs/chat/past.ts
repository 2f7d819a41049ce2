/** What was said before: exchanges of a session, each with how it ended. */
import { array, beginning, number, open, optional, parse, showTime, string, idWord } from '../../../../core/plugin.js'
import { fileText } from '../../../media/assets/contract.js'
import { filesOf, RunAnswer, type RunRow } from '../terminal/run-text.js'
import { createJournal, type JournalRow } from './journal.js'
import { endText, outcomeText } from './run-end.js'
import { askedText, prompt, type Talk } from './talk.js'

const Runs = array(RunAnswer)

/** Runs of the session, the open one first, then the newest. */
export const readRuns = async ({ input: { client }, session_id }: Talk, limit: number): Promise<readonly RunRow[]> => {
  const query = new URLSearchParams({ session_id, priority_active: 'true', limit: String(limit) })
  const parsed = parse(Runs, await client.get(`/v1/runs?${query.toString()}`))
  return parsed.ok ? parsed.value : []
}

/** Lines of an answer that are shown: its end says what came of it. */
const mostLines = 20

const endOf = (text: string): string => {
  const lines = text.trimEnd().split('\n')
  return lines.length <= mostLines ? text.trimEnd() : `…\n${lines.slice(-mostLines).join('\n')}`
}

/** What the model said last in a run that put nothing out. */
const lastSaid = (rows: readonly JournalRow[]): string =>
  rows
    .flatMap(({ type, entry }) => (type === 'message' && entry.message?.role === 'assistant' ? [entry.message] : []))
    .map(({ content }) => content.flatMap(({ text }) => text ?? []).join(''))
    .findLast((text) => text.trim() !== '') ?? ''

const showExchange = async (talk: Talk, run: RunRow): Promise<void> => {
  const { sheet, input, session_id } = talk
  const { outputs = [] } = run
  sheet.line(`${prompt}${askedText(run)}`)
  for (const output of outputs) {
    sheet.say(endOf(output.content))
    sheet.end()
    for (const file of filesOf(output)) sheet.line(`  file ${fileText(file)}`)
  }
  if (outputs.length === 0)
    sheet.say(endOf(lastSaid(await createJournal(input.client, session_id, undefined).news(run.run_id))))
  sheet.end()
}

/** The exchange that the person comes back to, with what to do about it. */
export const showLast = async (talk: Talk, run: RunRow): Promise<void> => {
  await showExchange(talk, run)
  const text = endText(run)
  if (text !== undefined) talk.sheet.line(text)
}

const [usual, most] = [5, 100]

export const history = async (talk: Talk, text: string): Promise<void> => {
  const { sheet } = talk
  const wanted = text === '' ? usual : Number(text)
  if (!Number.isInteger(wanted) || wanted < 1 || wanted > most)
    return sheet.line(`Say how many exchanges: /history 1 to /history ${most}.`)
  const runs = (await readRuns(talk, wanted)).toSorted((one, other) => (one.run_id < other.run_id ? -1 : 1))
  if (runs.length === 0) sheet.line('Nothing was said in this session.')
  for (const run of runs) {
    await showExchange(talk, run)
    const ending = outcomeText(run)
    if (ending !== undefined) sheet.line(ending)
  }
}

const Uses = array(
  open({ session_id: string(), updated_at_ms: number(), request: open({ text_preview: optional(string()) }) }),
)
/** Runs that are looked at, and sessions that are shown. */
const [looked, listed] = [100, 10]

/** Sessions that were used last, with what was said there. */
export const sessions = async ({ input: { client }, sheet, session_id: own }: Talk): Promise<void> => {
  const query = new URLSearchParams({ priority_active: 'true', limit: String(looked) })
  const parsed = parse(Uses, await client.get(`/v1/runs?${query.toString()}`))
  const runs = (parsed.ok ? parsed.value : []).toSorted((one, other) => other.updated_at_ms - one.updated_at_ms)
  const newest = new Map(runs.toReversed().map((run) => [run.session_id, run] as const))
  const rows = runs.filter((run) => newest.get(run.session_id) === run).slice(0, listed)
  if (rows.length === 0) return sheet.line('Nothing was said in any session.')
  for (const { session_id, updated_at_ms, request } of rows) {
    const said = beginning((request.text_preview ?? '').replaceAll(/\s+/gu, ' '), 60)
    const when = showTime(updated_at_ms).slice(0, 16).replace('T', ' ')
    sheet.line(`${when}  ${idWord(session_id)}${session_id === own ? ' (this one)' : ''}  ${said}`)
  }
  sheet.line('holdfast chat SESSION comes back to one.')
}
