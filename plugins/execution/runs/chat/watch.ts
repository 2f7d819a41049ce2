/** One run of a conversation, from its submission to its end, through restarts of the daemon. */
import {
  commandErrors,
  isLoss,
  number,
  open,
  optional,
  parse,
  string,
  type CommandInput,
  type Dialogue,
  type Frame,
  type Json,
} from '../../../../core/plugin.js'
import { withHold } from '../terminal/held-daemon.js'
import { RunAnswer, runOf, type RunRow } from '../terminal/run-text.js'
import { createAlive, type Alive } from './alive.js'
import { createJournal, sessionPath, type Journal } from './journal.js'
import { createRequests, type Requests } from './requests.js'
import { endText, placeText, waitText } from './run-end.js'
import type { Sheet } from './sheet.js'
import { createTranscript, type Transcript } from './transcript.js'

export interface Conversation {
  readonly input: CommandInput
  readonly dialogue: Dialogue
  readonly sheet: Sheet
}

export interface Watched {
  readonly session_id: string
  /** The run; called again where nobody knows whether it arrived. */
  readonly submit: () => Promise<Json>
  /** The entry of the journal behind which the run begins; the newest are read when absent. */
  readonly after: () => Promise<number | undefined>
  /** Others began it: Ctrl-C ends the watching, and not the run. */
  readonly isOfOthers?: boolean
}

/** How it came to its end; or that the person left before, with the exit code for that. */
export type Watching =
  | { readonly type: 'ended'; readonly run: RunRow; readonly isGivenUp: boolean }
  | { readonly type: 'left'; readonly code: number }

const Live = open({
  trace: open({
    run_id: optional(string()),
    kind: open({
      type: string(),
      turn: optional(number()),
      text: optional(string()),
      tool_name: optional(string()),
      call_id: optional(string()),
    }),
  }),
})

const runPath = (run_id: string): string => `/v1/runs/${encodeURIComponent(run_id)}`
export const isOver = ({ status }: RunRow): boolean =>
  ['completed', 'failed', 'cancelled', 'interrupted'].includes(status)

const asRun = (answer: Json): RunRow => {
  const parsed = parse(RunAnswer, answer)
  if (!parsed.ok) throw commandErrors.answer_unreadable({ details: { url: 'the daemon' } })
  return parsed.value
}

/** Milliseconds before the daemon is looked for again, and in all where nobody can end the search. */
const [soon, atMost, inAll] = [200, 2_000, 60_000]

interface Leaving {
  readonly signal: AbortSignal
  readonly leave: (code: number) => void
  readonly code: () => number
}

const createLeaving = (signal: AbortSignal): Leaving => {
  const left = new AbortController()
  let code = 130
  return {
    signal: AbortSignal.any([signal, left.signal]),
    code: () => code,
    leave(given) {
      code = given
      left.abort()
    },
  }
}

/** The first Ctrl-C interrupts the run, the next one leaves; so does the first where there is nobody to tell. */
const createInterrupt = (
  { input, sheet }: Conversation,
  { session_id, isOfOthers = false }: Watched,
  { leave }: Leaving,
) => {
  let asked = false
  let run: RunRow | undefined
  const stop = (now: RunRow): Promise<Json> =>
    now.status === 'queued'
      ? input.client.send('POST', `${runPath(now.run_id)}/cancel`)
      : input.client.send('POST', `${sessionPath(session_id)}/interrupt`)
  return {
    knows(now: RunRow | undefined) {
      run = now
    },
    interrupt() {
      if (asked || isOfOthers || run === undefined) return leave(130)
      asked = true
      sheet.line('Interrupting; Ctrl-C once more leaves.')
      void stop(run).catch(async (error: unknown) => sheet.line(await input.told(error)))
    },
  }
}

/** Attempts of a model call that fail before a script waits no longer: about half a minute. */
const mostAttempts = 7

interface Patience {
  look(run: RunRow): void
  isGivenUp(): boolean
}

/** A person sees that the model fails and may wait; a script would be held up by a run that goes on asking. */
const createPatience = ({ input, dialogue, sheet }: Conversation, session_id: string): Patience => {
  let isGivenUp = false
  return {
    isGivenUp: () => isGivenUp,
    look({ waiting_for_model_route: wait }) {
      if (dialogue.attended || isGivenUp || (wait?.attempts ?? 0) < mostAttempts) return
      isGivenUp = true
      sheet.line(`The model has failed ${mostAttempts} times: the run is interrupted.`)
      void input.client
        .send('POST', `${sessionPath(session_id)}/interrupt`)
        .catch(async (error: unknown) => sheet.line(await input.told(error)))
    },
  }
}

interface Reading {
  readonly run: RunRow
  readonly journal: Journal
  readonly transcript: Transcript
  readonly requests: Requests
  /** Tells what the run waits for, once. */
  readonly waits: (text: string | undefined) => void
  /** Tells where it works, once. */
  readonly works: (text: string | undefined) => void
  readonly patience: Patience
  readonly alive: Alive
}

const catchUp = async ({ run: { run_id }, journal, transcript, requests }: Reading): Promise<void> => {
  for (const row of await journal.news(run_id)) {
    requests.heard(row)
    transcript.entry(row)
  }
}

/** Shows a step of the run; what is not shown from the step itself is in the journal by then. */
const showTrace = async (reading: Reading, data: Json): Promise<void> => {
  const parsed = parse(Live, data)
  if (!parsed.ok || parsed.value.trace.run_id !== reading.run.run_id) return
  const { type, turn = 1, text = '', tool_name = '', call_id = '' } = parsed.value.trace.kind
  const { transcript, alive } = reading
  alive.step(type, tool_name)
  if (type === 'model_text_delta') return transcript.piece(turn, text)
  if (!['model_attempt_started', 'tool_started', 'tool_finished'].includes(type)) return
  await catchUp(reading)
  if (type === 'model_attempt_started') transcript.begin(turn)
  if (type === 'tool_started') transcript.started(call_id, tool_name)
}

/** Shows a run as it is; true when it is over. */
const showRun = async (reading: Reading, run: RunRow): Promise<boolean> => {
  await catchUp(reading)
  reading.works(placeText(run))
  reading.waits(waitText(run))
  reading.patience.look(run)
  reading.alive.look(run)
  reading.requests.update(run)
  return isOver(run)
}

const showFrame = async (reading: Reading, { event, data }: Frame): Promise<RunRow | undefined> => {
  if (event === 'trace') return void (await showTrace(reading, data))
  const run = runOf(event, data)
  if (run?.run_id !== reading.run.run_id) return undefined
  return (await showRun(reading, run)) ? run : undefined
}

/** Watches a run until it is over or the person leaves. Throws what the daemon refuses. */
export const watchRun = async (conversation: Conversation, watched: Watched): Promise<Watching> => {
  const { input, dialogue, sheet } = conversation
  const { session_id } = watched
  const leaving = createLeaving(input.signal)
  const interrupting = createInterrupt(conversation, watched, leaving)
  dialogue.onInterrupt(interrupting.interrupt)
  let journal: Journal | undefined
  const transcript = createTranscript(sheet)
  const { interrupt } = interrupting
  const requests = createRequests({ input, dialogue, sheet, interrupt, end: () => leaving.leave(3) })
  const [waits, works] = [createWaits(sheet), createWaits(sheet)]
  const patience = createPatience(conversation, session_id)
  const alive = createAlive({ input, sheet, signal: leaving.signal })
  let known: string | undefined
  /** One connection: the run where it is over. */
  const follow = async (): Promise<RunRow | undefined> => {
    const frames = await input.client.stream(`${sessionPath(session_id)}/stream?include=deltas`, leaving.signal)
    journal ??= createJournal(input.client, session_id, await watched.after())
    const answer = known === undefined ? await watched.submit() : await input.client.get(runPath(known))
    const run = asRun(await withHold(input, answer))
    known = run.run_id
    interrupting.knows(run)
    lost.found()
    const reading = { run, journal, transcript, requests, waits, works, patience, alive }
    if (await showRun(reading, run)) return run
    for await (const frame of frames) {
      const now = runOf(frame.event, frame.data)
      if (now?.run_id === known) interrupting.knows(now)
      const over = await showFrame(reading, frame)
      if (over !== undefined) return over
    }
    return undefined
  }
  const lost = createLoss(conversation, leaving)
  try {
    while (!leaving.signal.aborted) {
      const run = await follow().catch((error: unknown) => lost.heard(error))
      if (run !== undefined) return ended(conversation, run, patience.isGivenUp())
      interrupting.knows(undefined)
      transcript.missed()
      await lost.wait()
    }
    return { type: 'left', code: leaving.code() }
  } finally {
    requests.close()
    alive.close()
    leaving.leave(leaving.code())
  }
}

const createWaits = (sheet: Sheet) => {
  let last: string | undefined
  return (text: string | undefined): void => {
    if (text !== undefined && text !== last) sheet.line(text)
    last = text
  }
}

const ended = ({ sheet }: Conversation, run: RunRow, isGivenUp: boolean): Watching => {
  const text = endText(run)
  sheet.end()
  if (text !== undefined) sheet.line(text)
  return { type: 'ended', run, isGivenUp }
}

/** The daemon went away: it is looked for until it is there, by a script for a minute. */
const createLoss = ({ input, dialogue, sheet }: Conversation, { signal }: Leaving) => {
  let waited = soon
  let since: number | undefined
  let last: unknown
  return {
    /** Throws what is no loss. */
    heard(error: unknown): undefined {
      if (signal.aborted) return undefined
      if (!isLoss(error)) throw error
      last = error
      return undefined
    },
    found(): void {
      if (since !== undefined) sheet.line('It is back.')
      since = undefined
      waited = soon
    },
    async wait(): Promise<void> {
      if (signal.aborted) return
      if (since === undefined)
        sheet.line(`The daemon at ${input.client.baseUrl} is away: waiting for it. Ctrl-C leaves; what runs is kept.`)
      since ??= input.now()
      if (!dialogue.attended && input.now() - since > inAll) throw last
      await input.pause(waited, signal)
      waited = Math.min(waited * 2, atMost)
    },
  }
}
