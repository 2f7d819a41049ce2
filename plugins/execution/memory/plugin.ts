import { SystemSections } from '../models/contract.js'
import { definePlugin, redactPii, withoutSecrets } from '../../../core/plugin.js'
import { Settings, RuntimeSettings } from '../../operator/runtime/contract.js'
import { StatusSections } from '../../operator/status/contract.js'
import { Runs } from '../runs/contract.js'
import { Sessions } from '../sessions/contract.js'
import { MemorySources, RunMemories, RunMemoryPolicy, RunMemoryUsers } from './contract.js'
import { policyInForce, policySetting } from './recording/policy.js'
import { learnedSection, recoveredSection } from './prompt.js'
import { createRecall } from './recall.js'
import { createRecorder } from './recording/recorder.js'
import { createRecording } from './recording/recording.js'
import { memoryRoutes } from './routes.js'
import { createSearchIndex } from './search/search-index.js'
import { createSharedRuns } from './search/shared-runs.js'
import { createRunMemories } from './recording/users.js'
import { createSources } from './sources/sources.js'
import { memorySections } from './status.js'
import { declareStore } from './recording/store.js'

export default definePlugin({
  id: 'memory',
  version: '1.0.0',
  api: 1,
  summary: 'What a session remembers: ended runs, and the learnings and skills of other plugins.',
  needs: { runs: Runs, sessions: Sessions, settings: Settings },
  provides: [RunMemories],
  config: RunMemoryPolicy,
  register(ctx, { runs, sessions, settings }) {
    const { clock, log, secrets } = ctx
    const setting = policySetting(ctx.config)
    const policy = policyInForce(settings, setting)
    const store = declareStore(ctx.state)
    const sources = createSources(ctx.view(MemorySources), log)
    const safe = withoutSecrets(secrets.redact)
    const clean = (text: string): string => (policy.redact_pii ? redactPii(safe(text)) : safe(text))
    const parts = {
      store,
      runs,
      sessions,
      clock,
      log,
      policy,
      clean,
      sources,
      users: ctx.observers(RunMemoryUsers),
      shared: createSharedRuns({ store, clock, policy }),
      index: createSearchIndex(clock),
    }
    const recorder = createRecorder(parts)
    const recording = createRecording(parts, recorder)
    const recall = createRecall({ ...parts, settled: recording.settled })
    ctx.provide(RunMemories, createRunMemories(store, recording.settled))
    ctx.routes(...memoryRoutes(recall, policy))
    ctx.contribute(SystemSections, learnedSection(recall), recoveredSection(recall))
    ctx.contribute(StatusSections, ...memorySections({ ...parts, recorder }))
    ctx.contribute(RuntimeSettings, setting)
    ctx.onStart(() => recording.start(ctx.signal))
  },
})
