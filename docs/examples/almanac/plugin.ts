/** A source of memory: what an almanac knows is told to models as if they had learned it. */
import type { Kit, Point } from '../../../core/plugin.js'
import type { LearningItem, LearningScope, MemorySource } from '../../../plugins/execution/memory/contract.js'

// part: source
const MemorySources: Point<MemorySource> = { point: 'memory-sources@1' }

const workspace: LearningScope = { kind: 'workspace', id: 'default' }

const saying = (learning_id: string, content: string): LearningItem => ({
  learning_id,
  scope: workspace,
  kind: 'fact',
  sensitivity: 'scoped',
  content,
  published_at_ms: Date.UTC(2026, 0, 1),
  status: 'active',
  publish_tier: 'active',
  policy_decision: 'manual',
  verification_status: 'verified',
})

const almanac: MemorySource = {
  id: 'almanac',
  learnings: (scopes) =>
    scopes.some(({ kind }) => kind === 'workspace') ? [saying('almanac_tide', 'High tide is at noon.')] : [],
}
// end

export default ({ definePlugin, object }: Kit) =>
  definePlugin({
    id: 'almanac',
    version: '1.0.0',
    api: 1,
    summary: 'Tells models what the almanac says.',
    config: object({}),
    register: (ctx) => {
      ctx.contribute(MemorySources, almanac)
    },
  })
