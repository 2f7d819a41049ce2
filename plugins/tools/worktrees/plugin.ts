import { Host, Supervised, childEnvironment, definePlugin, openWorkFolders } from '../../../core/plugin.js'
import { Interception } from '../../execution/interception/contract.js'
import { SystemSections } from '../../execution/models/contract.js'
import { RunWorkspaces, Runs } from '../../execution/runs/contract.js'
import { Tasks } from '../../execution/tasks/contract.js'
import { WorktreesConfig } from './config.js'
import { createGit } from './git.js'
import { createKeeper } from './keeper.js'
import { worktreeRoutes } from './routes.js'
import { worktreeCollection } from './store.js'
import { toldOf } from './told.js'

export default definePlugin({
  id: 'worktrees',
  version: '1.0.0',
  api: 1,
  summary: 'Git worktrees of their own for runs that do not share the workspace.',
  needs: { host: Host, supervised: Supervised, runs: Runs },
  wants: { tasks: Tasks, interception: Interception },
  provides: [RunWorkspaces],
  config: WorktreesConfig,
  register(ctx, { host, supervised, runs, tasks, interception }) {
    const { clock, config, ids, log, secrets, signal, state } = ctx
    const environment = () => childEnvironment({ pass: [], redact: secrets.redact })
    const worktrees = state.collection(worktreeCollection)
    const keeper = createKeeper({
      git: createGit({ supervised, clock, environment, timeout_ms: config.timeout_ms }),
      folders: openWorkFolders(host.stateRoot, 'worktrees'),
      workspace: host.workspaceRoot,
      state,
      worktrees,
      runs,
      tasks,
      interception,
      clock,
      ids,
      log,
      most: config.most,
      signal,
    })
    ctx.provide(RunWorkspaces, keeper)
    ctx.contribute(SystemSections, toldOf(keeper))
    ctx.routes(...worktreeRoutes(keeper, worktrees))
    ctx.onStart(() => {
      const works = new Set<Promise<void>>()
      const track = (work: Promise<void>): void => {
        const tracked = work.finally(() => works.delete(tracked))
        works.add(tracked)
      }
      const deafen = runs.onEnded(({ run_id }) => {
        if (worktrees.find(run_id) !== undefined) track(keeper.close(run_id))
      })
      const end = host.whenActing(() => {
        track(keeper.sweep())
        return () => undefined
      })
      return async () => {
        deafen()
        await end()
        await Promise.all(works)
      }
    })
  },
})
