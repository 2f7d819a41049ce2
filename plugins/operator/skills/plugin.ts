import { array, boolean, defaulted, definePlugin, doc, Host, object, string, within } from '../../../core/plugin.js'
import { Agents } from '../../agents/sidechains/contract.js'
import { MemorySources } from '../../execution/memory/contract.js'
import { SystemSections } from '../../execution/models/contract.js'
import { ReservedKeys, Runs } from '../../execution/runs/contract.js'
import { SessionMetadata, Sessions } from '../../execution/sessions/contract.js'
import { ToolGates, Tools } from '../../execution/tools/contract.js'
import { RuntimeSections } from '../runtime/contract.js'
import { declareUses, skillGate, skillsState } from './active.js'
import { personaSkills } from './persona-skills.js'
import { DefaultSkills, PersonaSkills, SkillCatalogue, SkillGuards } from './contract.js'
import { createCatalogue } from './catalogue.js'
import { loadYaml } from './discovery.js'
import { rootsOf } from './roots.js'
import { skillRoutes, skillsSection } from './routes.js'
import { createRulings } from './rulings.js'
import { readSkill } from './skill-file.js'
import { catalogueSection, skillTools } from './tools.js'
import { watchSkills } from './watch.js'

/** What a start waits for skills, milliseconds: a slow folder must keep nobody else waiting. */
const longestLookMs = 10_000

/** What the daemon alone says of skills: callers that send it are not refused, and not heard. */
const skillKeys = ['session_skills_state', 'session_visible_skills'].map((key) => ({ key, stripped: true }) as const)

export default definePlugin({
  id: 'skills',
  version: '1.0.0',
  api: 1,
  summary: 'Instructions that operators and repositories bring, which models use by name.',
  needs: { host: Host, sessions: Sessions },
  wants: { runs: Runs, defaults: DefaultSkills, agents: Agents },
  provides: [PersonaSkills, SkillCatalogue],
  config: object({
    roots: doc(
      defaulted(array(string({ min: 1, max: 4096 }), { max: 100 }), []),
      'Folders with skills, first one first.',
    ),
    repository: doc(
      defaulted(boolean(), true),
      'Whether skills of the workspace and of the folders above it are taken.',
    ),
    user: doc(defaulted(boolean(), true), 'Whether skills in the home of the user are taken.'),
    home: doc(defaulted(string({ max: 4096 }), ''), 'The home of the user; that of the process if it is empty.'),
  }),
  flags: { roots: 'skill-root' },
  register(ctx, { host, sessions, runs, defaults, agents }) {
    const roots = () => rootsOf(host, ctx.config)
    const rulings = createRulings({ guards: ctx.view(SkillGuards), stateRoot: () => host.stateRoot, log: ctx.log })
    const catalogue = createCatalogue({ roots, rulings, log: ctx.log })
    ctx.routes(...skillRoutes({ catalogue, rulings }))
    ctx.contribute(RuntimeSections, skillsSection({ catalogue, rulings }))
    ctx.contribute(MemorySources, catalogue)
    ctx.provide(PersonaSkills, personaSkills(catalogue, rulings))
    ctx.provide(SkillCatalogue, {
      hasLooked: catalogue.hasLooked,
      find: catalogue.find,
      look: catalogue.look,
      read: async (files) => readSkill(files, await loadYaml()),
    })
    const uses = declareUses(ctx.state, runs)
    ctx.contribute(Tools, ...skillTools({ catalogue, sessions, rulings, uses, agents, runs }))
    ctx.contribute(ToolGates, skillGate(uses))
    ctx.contribute(ReservedKeys, ...skillKeys)
    ctx.contribute(SessionMetadata, skillsState({ uses, defaults }))
    ctx.contribute(SystemSections, catalogueSection({ catalogue, sessions, rulings }))
    ctx.health({ id: 'skills', check: catalogue.warnings })
    ctx.onStart(async () => {
      await within(ctx.clock, longestLookMs, catalogue.look())
      const folders = () => catalogue.now.folders
      return watchSkills({ roots: roots(), clock: ctx.clock, log: ctx.log, look: catalogue.look, folders })
    })
  },
})
