import { createUnreadable, defineRoute, definePlugin, jsonReply } from '../../../core/plugin.js'
import { MemorySources } from '../../execution/memory/contract.js'
import { Reasons, Subjects } from '../../operator/explanations/contract.js'
import { RuntimeSettings, Settings } from '../../operator/runtime/contract.js'
import { candidateRoutes } from './candidate-routes.js'
import { createSecretGuard } from './checked.js'
import { LearningUsers, Learnings } from './contract.js'
import { candidateReasons, candidateSubjects } from './explained.js'
import { createFound } from './filters.js'
import { createLive, type LiveLearnings } from './live.js'
import { createOperations } from './operate.js'
import { ConfiguredPolicy, LearningPolicy, learningPolicy } from './policy.js'
import { createPublishing } from './publish.js'
import { learningRoutes } from './routes.js'
import { createService } from './service.js'
import { declareLearnings, type LearningStore } from './store.js'

export default definePlugin({
  id: 'learnings',
  version: '1.0.0',
  api: 1,
  summary: 'What was learned and is kept: candidates, learnings, and what is done about them.',
  needs: { settings: Settings },
  provides: [Learnings],
  config: ConfiguredPolicy,
  register(ctx, { settings }) {
    const { clock, ids, log, secrets, state } = ctx
    const guard = createSecretGuard((text) => secrets.redact(text))
    const setting = learningPolicy(ctx.config, guard)
    ctx.contribute(RuntimeSettings, setting)
    const { skip, health } = createUnreadable(log, 'learnings')
    const store: LearningStore = declareLearnings(state, (learning) => live.changed(learning))
    // A daemon that only notes what is declared has no health of its state.
    const undone = {
      get undone() {
        return state.health.undone
      },
    }
    const live: LiveLearnings = createLive({ learnings: store.learnings, health: undone, clock, skip })
    const users = ctx.observers(LearningUsers)
    const publishing = createPublishing({ store, ids, users })
    const policy = (): LearningPolicy => settings.get(setting)
    const service = createService({ store, publishing, guard, policy, ids, clock, log })
    ctx.provide(Learnings, service)
    ctx.contribute(MemorySources, {
      id: 'learnings',
      learnings: (scopes) => live.of(scopes),
      hasNoLearnings: () => store.learnings.count('all', 'all') === 0,
    })
    const found = createFound(store, skip)
    const operations = createOperations({ store, publishing, service, guard, found, users, state })
    const parts = { store, operations, found, skip }
    ctx.contribute(Subjects, candidateSubjects({ store }))
    ctx.contribute(Reasons, candidateReasons({ store, publishing, policy, clock }))
    ctx.health(health)
    ctx.onStart(() => {
      void live
        .prepare({ kind: 'workspace', id: 'default' }, ctx.signal)
        .catch((error: unknown) => log.error('the learnings of the workspace could not be read', { error }))
    })
    ctx.routes(
      ...candidateRoutes(parts),
      ...learningRoutes(parts),
      defineRoute({
        id: 'runtime.learning_policy',
        method: 'GET',
        path: '/v1/runtime/learning-policy',
        access: 'read',
        summary: 'What is done about learnings: what is captured, what is published by itself, who judges.',
        reply: jsonReply(LearningPolicy),
        handler: policy,
      }),
    )
  },
})
