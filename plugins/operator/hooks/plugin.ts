import { Host, Supervised, createOutbound, definePlugin } from '../../../core/plugin.js'
import { Agents } from '../../agents/sidechains/contract.js'
import { Consultations } from '../../execution/consultations/contract.js'
import { declareOpenCalls, ExternalActions } from '../../execution/external-actions/contract.js'
import { askInTurn, Interception, Interceptors, type Moment } from '../../execution/interception/contract.js'
import { Runs } from '../../execution/runs/contract.js'
import { Sessions } from '../../execution/sessions/contract.js'
import { SessionModes, ToolRegistry } from '../../execution/tools/contract.js'
import { Reasons } from '../explanations/contract.js'
import { RuntimeSettings, Settings } from '../runtime/contract.js'
import { StatusSections } from '../status/contract.js'
import { askedOf, endLeft } from './agent-hook.js'
import { createBeside, createConfigured, hookList, HooksConfig } from './config.js'
import { HookCallbacks } from './contract.js'
import { declareDeadLetters } from './dead-letters.js'
import type { HookDefinition, HookMap } from './definitions.js'
import { askHook, type HookCounts } from './hook-run.js'
import { createHooksAtWork } from './explained.js'
import { hooksSetting } from './hooks-setting.js'
import { blockOf } from './outcome/outcome.js'
import { declarePermissions, forgetEnded } from './outcome/permissions.js'
import { hookRoutes } from './routes.js'
import { hooksHealth, hooksSection } from './status.js'
import { tellOfRuns } from './told.js'
import { createWorks } from './works.js'

/** After interceptors of plugins with a lower rank. */
const rank = 100
/** A command that does not end in time is ended behind its run. */
const stopMs = 7_000

/** What does not happen while nobody knows the hooks that should guard it. */
const guarded: ReadonlySet<Moment> = new Set(['pre_tool_use', 'user_prompt_submit'])
const locked = 'the hooks that are set cannot be decrypted, since their key is not here.'

export default definePlugin({
  id: 'hooks',
  version: '1.0.0',
  api: 1,
  summary: 'Commands, HTTP calls, models and callbacks that operators have asked at named moments.',
  needs: { host: Host, supervised: Supervised, settings: Settings, interception: Interception },
  wants: {
    ledger: ExternalActions,
    sessions: Sessions,
    consultations: Consultations,
    tools: ToolRegistry,
    agents: Agents,
    runs: Runs,
  },
  config: HooksConfig,
  stopMs: () => stopMs,
  register(ctx, { host, supervised, settings, interception, ledger, sessions, consultations, tools, agents, runs }) {
    const { clock, config, ids, log, secrets, state } = ctx
    const outbound = createOutbound({ clock })
    ctx.own(() => outbound.close())
    const callbacks = ctx.view(HookCallbacks)
    const letters = declareDeadLetters(state)
    const calls = declareOpenCalls(state, ledger, { name: 'hook_calls', step: 'hooks.calls' })
    const permissions = declarePermissions(state)
    const counts: HookCounts = { executions: 0, failures: 0, retries: 0, unkept: 0 }
    const atWork = createHooksAtWork(clock)
    const { track, over } = createWorks()
    const list = ctx.list(hookList())
    const beside = createBeside({ list, config, secrets })
    const configured = createConfigured(list)
    const checked = {
      allow_cidrs: beside.allow_cidrs,
      callbacks: () => new Set(callbacks().map(({ name }) => name)),
      routes: () => consultations()?.routes() ?? [],
    }
    const setting = hooksSetting(configured, checked)
    const hooks = (): HookMap => settings.get(setting)
    const parts = {
      state,
      ids,
      log,
      clock,
      supervised,
      outbound,
      callbacks,
      consultations,
      agents,
      runs,
      redact: secrets.redact,
      guard: secrets.guard,
      ledger,
      letters,
      calls,
      permissions,
      counts,
      ...beside,
      folder: host.workspaceRoot,
      ending: ctx.signal,
      track,
    }
    const set = (event: Moment): readonly HookDefinition[] => hooks()[event] ?? []
    const isLocked = (event: Moment): boolean => guarded.has(event) && settings.isLocked(setting)
    ctx.contribute(RuntimeSettings, setting)
    ctx.contribute(Interceptors, {
      id: 'hooks',
      rank,
      ofHooks: true,
      wants: (event) => set(event).length > 0 || isLocked(event),
      intercept: async (invocation, signal) => {
        if (isLocked(invocation.event)) return { ...blockOf('hooks', locked), locked: true }
        return askInTurn(invocation, askedOf(parts, set(invocation.event), invocation), (definition, now) =>
          atWork.during(definition.name, now, () => track(askHook(parts, definition, { invocation: now, signal }))),
        )
      },
    })
    ctx.health(hooksHealth({ letters, list, hooks, configured, tools, parts: checked }))
    ctx.repair(calls.repair)
    ctx.contribute(SessionModes, { id: 'hooks', mode: () => undefined, rules: permissions.rules })
    ctx.contribute(Reasons, atWork.reasons)
    ctx.contribute(StatusSections, hooksSection({ letters, counts, hooks, state_root: host.stateRoot }))
    ctx.routes(...hookRoutes({ state, letters, hooks }))
    ctx.onStart(async () => {
      await endLeft(parts)
      beside.guardPassed()
      const end = tellOfRuns(ctx.events, interception)
      const forget = forgetEnded({ permissions, sessions, events: ctx.events, log, state })
      interception.tell({ event: 'setup', payload: { generation: state.health.generation } })
      return async () => {
        end()
        forget()
        await over()
      }
    })
  },
})
