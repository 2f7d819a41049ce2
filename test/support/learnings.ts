/** Learnings as a plugin would bring them. */
import type { Tx } from '../../core/plugin.js'
import { MemorySources, type LearningItem } from '../../plugins/execution/memory/contract.js'
import { Learnings, LearningUsers, type LearningUser } from '../../plugins/coordination/learnings/contract.js'
import type { Answer, Ask } from './daemon.js'
import { lender, testPlugin } from './plugins.js'

/** One that models may be told. */
export const learning = (learning_id: string, content: string): LearningItem => ({
  learning_id,
  content,
  scope: { kind: 'workspace', id: 'default' },
  kind: 'fact',
  sensitivity: 'scoped',
  published_at_ms: 1,
  status: 'active',
  publish_tier: 'active',
  policy_decision: 'manual',
  verification_status: 'verified',
})

/** A plugin that brings these. */
export const bringing = (learnings: readonly LearningItem[]) =>
  testPlugin('source', {
    register: (ctx) => ctx.contribute(MemorySources, { id: 'source', learnings: () => learnings }),
  })

/** Configuration of a daemon that reviews no candidate by itself, for tests that compare them. */
export const byHand = { learnings: { mode: 'manual_only' } }

const workspace = { kind: 'workspace' }

/** Brings a candidate of the workspace; returns what is answered. */
export const bring = async ({ request }: { readonly request: Ask }, more: object = {}): Promise<any> =>
  (
    await request('POST', '/v1/learning-candidates', {
      scope: workspace,
      kind: 'fact',
      content: 'The sky is blue.',
      ...more,
    })
  ).body

/** Brings one and publishes it. */
export const publish = async (daemon: { readonly request: Ask }, more: object = {}, wish: object = {}): Promise<any> =>
  (await answerOf(daemon, { ...(await bring(daemon, more)) }, wish)).body

/** What is answered to a publication of this candidate. */
export const answerOf = (
  { request }: { readonly request: Ask },
  { candidate_id }: { readonly candidate_id?: string },
  wish: object = {},
): Promise<Answer> => request('POST', `/v1/learning-candidates/${candidate_id}/publish`, wish)

/** Lends a test the learnings of a daemon, with somebody who is told what ends. */
export const learningsLender = (ended: LearningUser['ended'] = () => {}) => {
  const lent = lender({ learnings: Learnings })
  const user = testPlugin('user', {
    register: (ctx) => ctx.contribute(LearningUsers, { id: 'user', ended }),
  })
  return {
    plugins: [lent.plugin, user],
    learnings: () => lent.services().learnings,
    guardSecret: (value: string): void => void lent.context().secrets.guard(value),
    commit: <R>(change: (tx: Tx) => R): Promise<R> => lent.context().state.commit(change),
  }
}
