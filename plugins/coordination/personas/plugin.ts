import { createUnreadable, definePlugin, object } from '../../../core/plugin.js'
import { SystemSections } from '../../execution/models/contract.js'
import { PersonaSource, Sessions } from '../../execution/sessions/contract.js'
import { ToolGates } from '../../execution/tools/contract.js'
import { DefaultSkills, PersonaSkills } from '../../operator/skills/contract.js'
import { createSource } from './binding.js'
import { createInUse } from './in-use.js'
import { declareKept, skillsCollection } from './kept.js'
import { personaRoutes } from './routes.js'
import { createPersonas } from './store.js'

export default definePlugin({
  id: 'personas',
  version: '1.0.0',
  api: 1,
  summary: 'Who sessions speak as: templates that are frozen into the sessions bound to them.',
  wants: { sessions: Sessions, skills: PersonaSkills },
  provides: [PersonaSource, DefaultSkills],
  config: object({}),
  register(ctx, { sessions, skills }) {
    const { state, ids } = ctx
    const names: Sessions['names'] = (index, sha256) => sessions()?.names(index, sha256) ?? true
    const personas = createPersonas({ state, namesSoul: (sha256) => names('soul', sha256), skills })
    const lists = declareKept(state, skillsCollection, (sha256) => names('default_skills', sha256))
    ctx.provide(PersonaSource, createSource({ personas, lists, skills }))
    const inUse = createInUse({ sessions, lists, skills })
    ctx.provide(DefaultSkills, inUse.defaults)
    ctx.contribute(SystemSections, inUse.section)
    ctx.contribute(ToolGates, inUse.gate)
    ctx.health(inUse.health)
    const { skip, health } = createUnreadable(ctx.log, 'personas')
    ctx.routes(...personaRoutes({ personas, ids, skip }))
    ctx.health(health)
  },
})
