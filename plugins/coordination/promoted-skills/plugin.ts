import {
  boolean,
  createUnreadable,
  defaulted,
  definePlugin,
  doc,
  Host,
  object,
  openFollowedFolders,
  within,
} from '../../../core/plugin.js'
import { Runs } from '../../execution/runs/contract.js'
import { promotedFolder, SkillCatalogue, SkillGuards } from '../../operator/skills/contract.js'
import { Learnings, LearningUsers } from '../learnings/contract.js'
import { createSecretCheck } from './checked.js'
import { createEndings } from './ending.js'
import { pathOf } from './files.js'
import { createGuard, unusable } from './guard.js'
import { createMounts } from './mounts.js'
import { createPromote } from './promote.js'
import type { PromotedSkill, SkillRecord } from './record.js'
import { createRollout } from './rollout.js'
import { promotedRoutes } from './routes.js'
import { declareSkills } from './store.js'

/** What a start waits for the files of skills, milliseconds. */
const longestRepairMs = 8_000

export default definePlugin({
  id: 'promoted-skills',
  version: '1.0.0',
  api: 1,
  summary: 'Skills that are made of procedures that were learned, and how they are rolled out.',
  needs: { host: Host, learnings: Learnings, runs: Runs },
  wants: { catalogue: SkillCatalogue },
  config: object({
    told_runs_only: doc(
      defaulted(boolean(), false),
      'Whether a run shows something of a skill only if its request had the instructions.',
    ),
  }),
  register(ctx, { host, learnings, runs, catalogue }) {
    const { clock, log, secrets, state } = ctx
    const { skip, health } = createUnreadable(log, 'promoted skills')
    const store = declareSkills(state)
    const mounts = createMounts({
      store,
      folders: () => openFollowedFolders(host.stateRoot, 'skills', promotedFolder),
      catalogue,
      clock,
      log,
    })
    const parts = { store, learnings, catalogue, mounts, refuseSecret: createSecretCheck(secrets.redact), state }
    const endings = createEndings(parts)
    const guarding = { store, root: mounts.root }
    ctx.contribute(SkillGuards, createGuard(guarding))
    ctx.contribute(LearningUsers, endings.user)
    ctx.health(health)
    ctx.health({ id: 'promoted skills', check: () => [...mounts.warnings(), ...unusable(guarding, catalogue)] })
    const view = (record: SkillRecord): PromotedSkill => {
      const skill_root = mounts.root()
      const skill_path = `${skill_root}/${pathOf(record.source_learning_id)}`
      const found = record.status === 'active' ? catalogue()?.find(record.skill_name)?.summary : undefined
      return { ...record, skill_path, skill_root, digest: found?.skill_path === skill_path ? found.digest : '' }
    }
    ctx.routes(
      ...promotedRoutes({
        store,
        promote: createPromote({ ...parts, now: clock.now }),
        rollout: createRollout({ store, runs, state, toldOnly: ctx.config.told_runs_only }),
        endings,
        view,
        skip,
      }),
    )
    ctx.onStart(async () => {
      await within(clock, longestRepairMs, mounts.repair())
      return mounts.end
    })
  },
})
