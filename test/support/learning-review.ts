/** What becomes of learning candidates without a person, for tests that set a policy and look. */
import type { ModelEvent, ModelRequest } from '../../plugins/execution/models/contract.js'
import { done, scriptedProvider, text } from '../../plugins/providers/scripted/contract.js'
import type { CandidateDraft } from '../../plugins/coordination/learnings/contract.js'
import type { Ask } from './daemon.js'
import { eventually } from './mcp.js'

export const candidatesPath = '/v1/learning-candidates'
export const learningsPath = '/v1/learnings'

interface Target {
  readonly request: Ask
}

export const setPolicy = async ({ request }: Target, policy: object): Promise<void> => {
  const answer = await request('POST', '/v1/runtime/learning-policy', { policy })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
}

export const candidate = async ({ request }: Target, { candidate_id }: any): Promise<any> =>
  (await request('GET', `${candidatesPath}/${candidate_id}`)).body

/** As it is once it was reviewed. */
export const reviewed = (daemon: Target, one: any): Promise<any> =>
  eventually(async () => {
    const found = await candidate(daemon, one)
    return found.automation_review === undefined ? undefined : found
  })

export const learningOf = async ({ request }: Target, { published_learning_id }: any): Promise<any> =>
  (await request('GET', `${learningsPath}/${published_learning_id}`)).body

/** All candidates of a kind, by id. */
export const candidatesOf = async ({ request }: Target, query = ''): Promise<any[]> =>
  (await request('GET', `${candidatesPath}?limit=500${query}`)).body

/** As the daemon brings one of a run. */
export const draftOf = (run_id: string, content: string, more: Partial<CandidateDraft> = {}): CandidateDraft => ({
  scope: { kind: 'session', id: 's1' },
  kind: 'fact',
  sensitivity: 'scoped',
  content,
  confidence: 90,
  source: { run_id, session_id: 's1' },
  evidence_refs: [{ run_id }],
  ...more,
})

type Said = string | Iterable<ModelEvent> | AsyncIterable<ModelEvent>
const asks =
  (word: string) =>
  ({ system }: ModelRequest) =>
    system.includes(word)
export const isJudge = asks('You judge whether')
export const isTeacher = asks('You look at what is remembered')

/** A model that judges, names what is worth knowing, and says `Done.` to runs. */
export const judging = (say: (request: ModelRequest, signal: AbortSignal) => Said) => {
  const model = scriptedProvider((request, _, signal) => {
    if (!isJudge(request) && !isTeacher(request)) return [text('Done.'), done()]
    const said = say(request, signal)
    return typeof said === 'string' ? [text(said), done()] : said
  })
  return { ...model, asked: () => model.requests.filter((request) => isJudge(request) || isTeacher(request)) }
}

/** An answer that comes when the signal aborts. */
export async function* never(signal: AbortSignal): AsyncIterable<ModelEvent> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
  yield done()
}

/** Has what ended written down now. */
export const remember = async ({ request }: Target, session_id = 's1'): Promise<void> =>
  void (await request('GET', `/v1/sessions/${session_id}/memory-search?limit=1`))
