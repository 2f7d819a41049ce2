import { Host, definePlugin, object, type ListChange } from '../../../core/plugin.js'
import { Interception } from '../../execution/interception/contract.js'
import { SealKeepers, SecretSeal } from '../secrets/contract.js'
import { StatusSections } from '../status/contract.js'
import { RuntimeSections, RuntimeSettings, Settings, runtimeUpdated } from './contract.js'
import { runtimeRoutes } from './routes.js'
import { checkInitials } from './settings/initial.js'
import { ownSections } from './sections.js'
import { settingRoute } from './settings/setting-route.js'
import { declareRevisions } from './settings/revisions.js'
import { createSealing } from './settings/sealing.js'
import { createSettings } from './settings/settings.js'
import { unfitWarnings } from './settings/unfit.js'
import { collectSections, runtimeView, settingSections } from './view.js'

export default definePlugin({
  id: 'runtime',
  version: '1.0.0',
  api: 1,
  summary: 'How the daemon is set up, and what operators change while it runs.',
  needs: { host: Host },
  wants: { interception: Interception, seal: SecretSeal },
  provides: [Settings],
  config: object({}),
  register(ctx, { host, interception, seal }) {
    const [settings, sections] = [ctx.view(RuntimeSettings), ctx.view(RuntimeSections)]
    const sealing = createSealing(seal, settings)
    const revisions = declareRevisions(ctx.state, sealing)
    const members = () => [...sections(), ...settingSections(settings(), store.get)]
    const view = { schema: runtimeView(members), collect: () => collectSections(members(), ctx.log) }
    const store = createSettings({
      state: ctx.state,
      revisions,
      settings,
      interception,
      leaving: host.leaving,
      onHeld: () => {
        const runtime = view.collect()
        ctx.events.emit(runtimeUpdated, {}, () => ({ runtime }))
        return runtime
      },
    })
    const service = Object.assign(store, { view })
    ctx.provide(Settings, service)
    ctx.contribute(SealKeepers, { id: 'runtime', has: revisions.has, sealAnew: revisions.sealAnew })
    ctx.routesOf(RuntimeSettings, (setting) => settingRoute(service, setting))
    ctx.contribute(RuntimeSections, ...ownSections(host, revisions, store))
    ctx.routes(...runtimeRoutes({ view, revisions, settings, store }))
    ctx.contribute(StatusSections, { name: 'runtime', ...view })
    ctx.health({ id: 'settings', check: () => unfitWarnings(store.unfit(), { ...store, hasKey: sealing.hasKey }) })
    const note = (change: ListChange): void => {
      store.note(change).catch((error: unknown) => {
        ctx.log.warn('a change of a file is in force and could not become a revision', { file: change.file, error })
      })
    }
    ctx.onStart(() => {
      checkInitials(settings(), ctx.log)
      for (const { setting, why } of store.unfit())
        ctx.log.warn('a kept setting cannot hold any more; the last value that can is in force', {
          setting: setting.name,
          why,
        })
      return host.onListApplied(note)
    })
  },
})
