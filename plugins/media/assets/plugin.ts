import { createUnreadable, definePlugin, Metrics } from '../../../core/plugin.js'
import { Capabilities, StatusSections } from '../../operator/status/contract.js'
import { createBytes } from './bytes.js'
import { AssetNormalisers, AssetReferences, Assets } from './contract.js'
import { assetHolder, derivedOf } from './derived.js'
import { createImport } from './import.js'
import { openPart, readPart } from './reading.js'
import { createRemoval } from './removal.js'
import { createRepair } from './repair.js'
import { RepairReport } from './repair-report.js'
import { assetRoutes } from './routes.js'
import { declareAssets, viewOf } from './store.js'
import { assetsConfig, checkRoom, totalsHealth, totalsMetrics, totalsSection } from './totals.js'
import { unaskedHealth } from './normalising/unasked.js'

export default definePlugin({
  id: 'assets',
  version: '1.0.0',
  api: 1,
  summary: 'Files under stable ids, stored once by their content.',
  provides: [Assets],
  config: assetsConfig,
  register(ctx) {
    const { state, ids, clock, log, signal, config } = ctx
    const { skip, health } = createUnreadable(log, 'assets')
    const store = declareAssets(state, skip)
    const bytes = createBytes(store)
    const [normalisers, holders] = [ctx.view(AssetNormalisers), ctx.view(AssetReferences)]
    const importFile = createImport({ store, bytes, ids, normalisers, config })
    const removal = createRemoval({ store, bytes, holders, log })
    const repair = createRepair({ store, bytes, removal, normalisers, clock, log })
    ctx.provide(Assets, {
      find(asset_id) {
        const found = store.find(asset_id)
        return found && viewOf(found)
      },
      get: (asset_id) => viewOf(store.get(asset_id)),
      checkRoom: () => checkRoom({ store, config }),
      add: async (upload, place) => viewOf(await importFile(upload, place)),
      open: (asset_id, part) => openPart(store, asset_id, part),
      read: (asset_id, part) => readPart(store, asset_id, part),
      ...derivedOf(store),
      release: (asset_id) => removal.release(asset_id),
    })
    ctx.routes(...assetRoutes({ store, bytes, removal, holders, importFile }))
    ctx.contribute(AssetReferences, assetHolder(store))
    ctx.contribute(Capabilities, { name: 'assets', value: true })
    ctx.contribute(StatusSections, {
      name: 'asset_repair',
      within: 'storage',
      schema: RepairReport,
      collect: repair.report,
    })
    ctx.contribute(StatusSections, totalsSection({ store, config }))
    ctx.contribute(Metrics, ...totalsMetrics({ store, config }))
    ctx.health(totalsHealth({ store, config }))
    ctx.health(health)
    ctx.health(unaskedHealth(normalisers))
    ctx.health({ id: 'assets', check: repair.health })
    ctx.onStart(() => {
      const done = repair.run(signal).catch((error: unknown) => log.error('assets were not looked at', { error }))
      return () => done
    })
  },
})
