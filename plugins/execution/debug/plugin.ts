import { definePlugin } from '../../../core/plugin.js'
import { RuntimeSections, Settings, RuntimeSettings } from '../../operator/runtime/contract.js'
import { Runs } from '../runs/contract.js'
import { RunObservers } from '../engine/contract.js'
import { createCapture } from './capture.js'
import { debugConfig, debugFlags } from './config.js'
import { DebugEvidence } from './contract.js'
import { readKey, type KeySetup } from './key.js'
import { debugRepair } from './repair.js'
import { createRetention, watchAge } from './retention.js'
import { debugRoutes, evidenceOf } from './routes.js'
import { captureSection, debugLevelSetting } from './sections.js'
import { declareStore } from './store.js'

/** What a stop waits for evidence: to clean long texts takes seconds. */
const stopMs = 5000

export default definePlugin({
  id: 'debug',
  version: '1.0.0',
  api: 1,
  summary: 'Evidence of what runs asked and were answered, within limits and for a time.',
  needs: { runs: Runs, settings: Settings },
  provides: [DebugEvidence],
  config: debugConfig,
  flags: debugFlags,
  register(ctx, { runs, settings }) {
    const { config, clock, ids, log, secrets } = ctx
    let setup: KeySetup = { type: 'none' }
    // Nothing is kept before the key was read, or after the stop has begun.
    let ready = false
    const key = (): KeySetup => setup
    const level = debugLevelSetting(config, key)
    const store = declareStore(ctx.state)
    const aging = { store, runs, config, clock, log, signal: ctx.signal }
    const retention = createRetention(aging)
    const capture = createCapture({
      store,
      config,
      clock,
      ids,
      log,
      level: () => (ready ? settings.get(level) : 'off'),
      key,
      known: (text) => secrets.redacting(text),
      room: retention.room,
    })
    ctx.contribute(RunObservers, capture)
    const shown = { store, runs, capture, retention, key }
    ctx.provide(DebugEvidence, evidenceOf(shown))
    ctx.routes(...debugRoutes(shown))
    ctx.contribute(RuntimeSettings, level)
    ctx.contribute(RuntimeSections, captureSection(config, key))
    ctx.repair(debugRepair(store))
    ctx.onStart(() => {
      setup = readKey(config, (value) => secrets.guard(value))
      if (setup.type === 'unusable') log.warn('the key for debug evidence cannot be used', { reason: setup.reason })
      level.check?.(settings.get(level))
      ready = true
      watchAge(aging, retention)
      return async () => {
        ready = false
        await capture.end(stopMs)
      }
    })
  },
})
