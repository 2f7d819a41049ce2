import { definePlugin } from '../../../core/plugin.js'
import { RuntimeSections } from '../../operator/runtime/contract.js'
import { Runs } from '../runs/contract.js'
import { RunObserver } from '../engine/contract.js'
import { createCapture } from './capture.js'
import { debugConfig, debugFlags } from './config.js'
import { Debug, type DebugLevel } from './contract.js'
import { debugErrors } from './errors.js'
import { readKey, type KeySetup } from './key.js'
import { debugRepair } from './repair.js'
import { createRetention, watchAge } from './retention.js'
import { debugRoutes } from './routes.js'
import { debugSections } from './sections.js'
import { declareStore } from './store.js'

/** What a stop waits for evidence: to clean long texts takes seconds. */
const stopMs = 5000

export default definePlugin({
  id: 'debug',
  version: '1.0.0',
  api: 1,
  summary: 'Evidence of what runs asked and were answered, within limits and for a time.',
  needs: { runs: Runs },
  provides: [RunObserver, Debug],
  config: debugConfig,
  flags: debugFlags,
  register(ctx, { runs }) {
    const { config, clock, ids, log, secrets } = ctx
    let setup: KeySetup = { type: 'none' }
    // Nothing is kept before the key was read.
    let level: DebugLevel = 'off'
    const key = (): KeySetup => setup
    const setLevel = (wanted: DebugLevel): void => {
      if (wanted !== 'off' && setup.type === 'unusable')
        throw debugErrors.debug_capture_key_unusable({ details: { reason: setup.reason } })
      level = wanted
    }
    const store = declareStore(ctx.state)
    const aging = { store, runs, config, clock, log, signal: ctx.signal }
    const retention = createRetention(aging)
    const capture = createCapture({
      store,
      config,
      clock,
      ids,
      log,
      level: () => level,
      key,
      known: (text) => secrets.redacting(text),
      room: retention.room,
    })
    ctx.provide(RunObserver, capture)
    ctx.provide(Debug, {
      get level() {
        return level
      },
      setLevel,
    })
    ctx.routes(...debugRoutes({ store, runs, capture, retention, key }))
    ctx.contribute(RuntimeSections, ...debugSections({ config, level: () => level, key }))
    ctx.repair(debugRepair(store))
    ctx.onStart(() => {
      setup = readKey(config, (value) => secrets.guard(value))
      if (setup.type === 'unusable') log.warn('the key for debug evidence cannot be used', { reason: setup.reason })
      setLevel(config.debug_level)
      watchAge(aging, retention)
      return async () => {
        level = 'off'
        await capture.end(stopMs)
      }
    })
  },
})
