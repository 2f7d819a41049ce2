/** Learnings as a plugin would bring them. */
import { MemorySources, type LearningItem } from '../../plugins/execution/memory/contract.js'
import { testPlugin } from './plugins.js'

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
