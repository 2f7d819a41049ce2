/** A conversation as it stands: the session, its last run, and what goes with the next message. */
import { commandLine, number, open, optional, parse, Problem, visibleLine, string } from '../../../../core/plugin.js'
import type { UploadBody } from '../../../media/assets/contract.js'
import type { RunRow } from '../terminal/run-text.js'
import type { Elsewhere } from './elsewhere.js'
import { sessionPath } from './journal.js'
import type { Conversation } from './watch.js'

const Session = open({
  session_id: string(),
  ended_at_ms: optional(number()),
  snapshot: open({ journal_len: number() }),
})
export interface Talk extends Conversation {
  session_id: string
  /** The run that was last talked about. */
  last: string | undefined
  code: number
  /** Files that go with the next message. */
  files: UploadBody[]
  /** Runs that others begin in the session, where a person can see them. */
  readonly elsewhere: Elsewhere | undefined
  /** Messages so far, for keys. */
  said: number
}

export const prompt = '> '

/** A line of its own, so that it can be copied where the terminal is narrow. */
export const backText = (session_id: string): string =>
  `Come back with: ${visibleLine(commandLine('chat', session_id))}`

export const find = async ({ input: { client } }: Talk, session_id: string) => {
  try {
    const parsed = parse(Session, await client.get(sessionPath(session_id)))
    return parsed.ok ? parsed.value : undefined
  } catch (error) {
    if (error instanceof Problem && error.code === 'session_not_found') return undefined
    throw error
  }
}

/** Entries of the journal so far: a run that is submitted now is behind them. */
export const journalEnd = async (talk: Talk): Promise<number> =>
  (await find(talk, talk.session_id))?.snapshot.journal_len ?? 0

export const askedText = ({ request }: RunRow): string =>
  visibleLine((request.text_preview ?? '').replaceAll(/\s+/gu, ' '))
