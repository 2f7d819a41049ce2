/** Asks what a run waits for, as long as it waits for it. */
import { parse, Problem, type CommandInput, type Json } from '../../../../core/plugin.js'
import { RunAnswer, type RunRow } from '../terminal/run-text.js'
import type { JournalRow, Resolved } from './journal.js'
import { askApproval, askQuestions, type Answer, type Asking } from './ask.js'

export interface RequestsParts extends Omit<Asking, 'signal'> {
  readonly input: Pick<CommandInput, 'client' | 'told'>
  /** Ctrl-C at a question. */
  readonly interrupt: () => void
  /** Nobody will answer any more. */
  readonly end: () => void
}

export interface Requests {
  /** The run as it is now: asks what is new, and takes back what is gone. */
  update(run: RunRow): void
  /** An entry of its journal: one that answers the open request takes it back, and says so. */
  heard(row: JournalRow): void
  close(): void
}

interface Request {
  readonly run: string
  readonly path: string
  readonly id: string
  ask(asking: Asking): Promise<Answer<Json>>
}

const requestOf = ({ run_id, pending_approvals = [], pending_questions = [] }: RunRow): Request | undefined => {
  const path = `/v1/runs/${encodeURIComponent(run_id)}`
  const [approval] = pending_approvals
  const [questions] = pending_questions
  if (approval !== undefined)
    return { run: path, path: `${path}/approvals`, id: approval.id, ask: (asking) => askApproval(asking, approval) }
  if (questions !== undefined)
    return { run: path, path: `${path}/questions`, id: questions.id, ask: (asking) => askQuestions(asking, questions) }
  return undefined
}

/** What became of a request that was not answered here. */
const endText = ({ behavior, declined, decided_by }: Resolved): string => {
  if (decided_by === 'timeout') return '  Nobody answered in time.'
  if (decided_by !== 'operator') return '  It is not asked any more.'
  if (behavior !== undefined) return `  Answered elsewhere: ${behavior === 'allow' ? 'allowed' : 'denied'}.`
  return declined === true ? '  Declined elsewhere.' : '  Answered elsewhere.'
}

/** Somebody else was faster: the run waits for it no longer. */
const isTooLate = (error: unknown): boolean =>
  error instanceof Problem && ['approval_state_conflict', 'question_state_conflict'].includes(error.code)

export const createRequests = ({ input: { client, told }, interrupt, end, ...asking }: RequestsParts): Requests => {
  let open: { readonly id: string; readonly taken: AbortController; isAnswered: boolean } | undefined
  const takeBack = (): void => {
    open?.taken.abort()
    open = undefined
  }
  const answer = async (request: Request, signal: AbortSignal): Promise<void> => {
    const answered = await request.ask({ ...asking, signal })
    if (answered.type === 'interrupt') return interrupt()
    if (answered.type === 'end') return end()
    if (answered.type !== 'given') return
    if (open?.id === request.id) open.isAnswered = true
    look(await client.send('POST', request.path, answered.value))
  }
  const look = (run: Json): void => {
    const parsed = parse(RunAnswer, run)
    if (parsed.ok) update(parsed.value)
  }
  /** What was refused is asked again, unless somebody else has answered. */
  const again = async ({ run }: Request, taken: AbortController): Promise<void> => {
    if (open?.taken !== taken) return
    open = undefined
    look(await client.get(run))
  }
  const begin = (request: Request): void => {
    const taken = new AbortController()
    open = { id: request.id, taken, isAnswered: false }
    void answer(request, taken.signal).catch(async (error: unknown) => {
      asking.sheet.line(isTooLate(error) ? '  That came too late: it was answered elsewhere.' : await told(error))
      // Where the daemon is away the run is looked at when it is back.
      return again(request, taken).catch(() => {})
    })
  }
  const update = (run: RunRow): void => {
    const request = requestOf(run)
    if (request?.id === open?.id) return
    takeBack()
    if (request !== undefined) begin(request)
  }
  return {
    close: takeBack,
    update,
    heard({ entry: { event } }) {
      const { resolutions = [], resolution } = event ?? {}
      const resolved = [...resolutions, resolution].find((one) => one !== undefined && one.request_id === open?.id)
      if (resolved === undefined || open?.isAnswered === true) return
      takeBack()
      asking.sheet.line(endText(resolved))
    },
  }
}
