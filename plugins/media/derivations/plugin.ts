import { createUnreadable, definePlugin, object } from '../../../core/plugin.js'
import { Sessions } from '../../execution/sessions/contract.js'
import { Capabilities } from '../../operator/status/contract.js'
import { AssetNormalisers, AssetReferences, Assets } from '../assets/contract.js'
import { assetSubject } from './asset-subject.js'
import { canonicalText } from './canonical-text.js'
import { DerivationProfiles, DerivationSubjects, Transcribers } from './contract.js'
import { createDerive } from './derive.js'
import { mendDerivations } from './repair.js'
import { derivationRoutes } from './routes.js'
import { sessionInputSubject } from './session-input.js'
import { createSpeech } from './speech.js'
import { declareDerivations, derivationAssets } from './store.js'
import { visualPreview } from './visual-preview.js'

export default definePlugin({
  id: 'derivations',
  version: '1.0.0',
  api: 1,
  summary: 'What is derived of files and of what runs were told: their words, and pictures of them.',
  needs: { assets: Assets },
  wants: { sessions: Sessions },
  config: object({}),
  register(ctx, { assets, sessions }) {
    const { state, ids, clock, log, secrets, signal } = ctx
    const { skip, health } = createUnreadable(log, 'derivations')
    const store = declareDerivations(state, { assets, skip })
    const speech = createSpeech({
      clock,
      assets,
      normalisers: ctx.view(AssetNormalisers),
      transcribers: ctx.view(Transcribers),
      heard: () => {},
    })
    const derive = createDerive({
      store,
      assets,
      ids,
      profiles: ctx.view(DerivationProfiles),
      subjects: ctx.view(DerivationSubjects),
      redact: secrets.redact,
      signal,
    })
    ctx.contribute(DerivationSubjects, assetSubject(assets), sessionInputSubject({ assets, sessions }))
    ctx.contribute(DerivationProfiles, canonicalText({ assets, speech }), visualPreview(assets))
    ctx.contribute(AssetReferences, derivationAssets(store))
    ctx.contribute(Capabilities, { name: 'derivations', value: true })
    ctx.routes(...derivationRoutes({ store, assets, derive }))
    ctx.health(health)
    ctx.onStart(() => {
      const done = mendDerivations({ store, assets, clock, log }, signal).catch((error: unknown) =>
        log.error('derivations were not looked at', { error }),
      )
      return () => done
    })
  },
})
