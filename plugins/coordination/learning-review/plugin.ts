import { Host, definePlugin, withoutSecrets } from '../../../core/plugin.js'
import { Consultations } from '../../execution/consultations/contract.js'
import { DebugEvidence } from '../../execution/debug/contract.js'
import { RunMemories, RunMemoryUsers } from '../../execution/memory/contract.js'
import { Runs, type TerminalRun } from '../../execution/runs/contract.js'
import { runtimeUpdated } from '../../operator/runtime/contract.js'
import { Learnings } from '../learnings/contract.js'
import { createCapture } from './capture.js'
import { createModelCapture } from './ask-runs.js'
import { declareCaptures } from './store.js'
import { createLeaving } from './leaving.js'
import { createWorker } from './worker.js'

export default definePlugin({
  id: 'learning-review',
  version: '1.0.0',
  api: 1,
  summary: 'What is done about learning candidates without a person: capture, policy, judge.',
  needs: { host: Host, learnings: Learnings, runs: Runs },
  wants: { memories: RunMemories, evidence: DebugEvidence, consultations: Consultations },
  register(ctx, { host, learnings, runs, memories, evidence, consultations }) {
    const { clock, log, secrets, state } = ctx
    const waiting = declareCaptures(state)
    const redact = withoutSecrets(secrets.redact)
    const parts = { learnings, memories, evidence, consultations, waiting, redact, clock, log, state }
    const works = [createWorker(parts), createModelCapture(parts), createLeaving(parts)] as const
    const [worker, asking] = works
    const request = (run: TerminalRun): string => runs.texts(run).request
    ctx.contribute(RunMemoryUsers, createCapture({ ...parts, request, wake: asking.wake }))
    ctx.onStart(() => {
      const undo = [
        learnings.onProposed(worker.wake),
        ctx.events.on(runtimeUpdated, () => {
          for (const work of works) work.wake()
        }),
      ]
      const end = host.whenActing(() => {
        const ends = works.map((work) => work.begin())
        return async () => void (await Promise.all(ends.map((stop) => stop())))
      })
      return async () => {
        for (const one of undo) one()
        await end()
      }
    })
  },
})
