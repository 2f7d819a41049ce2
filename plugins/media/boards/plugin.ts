import { createUnreadable, definePlugin, object, Sandbox } from '../../../core/plugin.js'
import { Sessions } from '../../execution/sessions/contract.js'
import { Tools } from '../../execution/tools/contract.js'
import { Capabilities, StatusSections } from '../../operator/status/contract.js'
import { AssetReferences, Assets } from '../assets/contract.js'
import { Boards } from './contract.js'
import { createDraw } from './drawing/draw.js'
import { createBoards } from './referred.js'
import { createBoardRepair } from './repair.js'
import { BoardRepairReport } from './repair-report.js'
import { revisionRoutes } from './revision-routes.js'
import { createRevisions } from './record/revisions.js'
import { boardRoutes } from './routes.js'
import { declareBoards } from './record/store.js'
import { boardTools } from './tools.js'

export default definePlugin({
  id: 'boards',
  version: '1.0.0',
  api: 1,
  summary: 'Surfaces that people and agents draw on, kept revision by revision.',
  needs: { assets: Assets, sessions: Sessions, sandbox: Sandbox },
  provides: [Boards],
  config: object({}),
  register(ctx, { assets, sessions, sandbox }) {
    const { state, ids, clock, log, signal } = ctx
    const unreadable = createUnreadable(log, 'boards')
    const store = declareBoards(state, unreadable.skip)
    const revisions = createRevisions({ store, assets, sessions, ids, holders: ctx.view(AssetReferences) })
    const drawn = { store, revisions, assets, sessions, sandbox }
    const repair = createBoardRepair({ store, assets, clock, log })
    ctx.provide(Boards, createBoards({ store, assets }))
    ctx.routes(...boardRoutes({ store, sessions, ids }), ...revisionRoutes({ store, revisions }))
    ctx.contribute(Tools, ...boardTools({ ...drawn, draw: createDraw(drawn) }))
    ctx.contribute(AssetReferences, store.holder)
    ctx.contribute(Capabilities, { name: 'boards', value: true })
    ctx.contribute(StatusSections, {
      name: 'board_repair',
      within: 'storage',
      schema: BoardRepairReport,
      collect: repair.report,
    })
    ctx.health(unreadable.health)
    ctx.health({ id: 'boards', check: repair.health })
    ctx.onStart(() => {
      const done = repair.run(signal).catch((error: unknown) => log.error('boards were not looked at', { error }))
      return () => done
    })
  },
})
