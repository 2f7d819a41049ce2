import { createCount, createOutbound, definePlugin, Host, Metrics, Supervised } from '../../../core/plugin.js'
import { declareOpenCalls, ExternalActions } from '../../execution/external-actions/contract.js'
import { SystemSections } from '../../execution/models/contract.js'
import { Sessions } from '../../execution/sessions/contract.js'
import { ToolArrivals, ToolGates, Tools } from '../../execution/tools/contract.js'
import { RuntimeSections } from '../../operator/runtime/contract.js'
import { SecretReferences, SecretSlots } from '../../operator/secrets/contract.js'
import { StatusSections } from '../../operator/status/contract.js'
import { catalogRoutes } from './catalog/routes.js'
import { openServerList } from './catalog/with-profiles.js'
import { guardLiterals } from './config/literals.js'
import { config, flags } from './catalog/settings.js'
import { serverList } from './config/entry.js'
import { createGuard } from './config/values.js'
import { createEndings } from './connection/endings.js'
import { declareOauth } from './oauth/declare.js'
import { foundRoute } from './found/routes.js'
import { mcpRoutes } from './routes.js'
import { createServers } from './servers/servers.js'
import { arrivals, credentialGate, requiredMissing, seenBy } from './servers/sight.js'
import { mcpHealth, mcpMetrics, mcpSection, mcpStatus } from './status.js'
import { instructionsSection } from './tools/instructions.js'
import { createPublished } from './tools/published.js'
import { resourceTools } from './tools/resources.js'

/** For servers to end. */
const stopMs = 5_000
/** How often it is looked whether the daemon is ready: nothing is connected before. */
const readyLookMs = 20

export default definePlugin({
  id: 'mcp',
  version: '1.0.0',
  api: 1,
  summary: 'Tools of MCP servers, as an operator lists them.',
  needs: { host: Host, supervised: Supervised, sessions: Sessions, slots: SecretSlots },
  wants: { ledger: ExternalActions },
  fileIsList: true,
  vitalList: ({ mcp_config }) => serverList(mcp_config),
  config,
  flags,
  stopMs: () => stopMs,
  register(ctx, { host, supervised, sessions, slots, ledger }) {
    const { clock, ids, log, secrets, state } = ctx
    const outbound = createOutbound({ clock })
    ctx.own(() => outbound.close())
    const values = createGuard(secrets)
    ctx.own(values.letGo)
    const calls = createCount({
      name: 'service_mcp_calls_total',
      help: 'Calls of tools of MCP servers, by how they ended.',
      labels: ['server', 'outcome'],
    })
    const openCalls = declareOpenCalls(state, ledger, { name: 'mcp_calls', step: 'mcp.calls' })
    const published = createPublished({
      contribute: (tools) => ctx.contribute(Tools, ...tools),
      calls,
      redact: secrets.redact,
      log,
      isThere: (server) => servers.find(server.name) === server,
    })
    const listed = openServerList(ctx, values.guard)
    const { list, credentials } = listed
    ctx.own(guardLiterals(list, secrets.guard))
    const oauth = declareOauth(ctx, { host, slots, servers: list })
    const servers = createServers({
      clock,
      ids,
      log,
      host,
      supervised,
      endProgram: createEndings({ clock, supervised }),
      outbound,
      slots: () => slots,
      credentials,
      redact: secrets.redact,
      guard: values.guard,
      authorize: oauth.authorize,
      keeps: oauth.isRenewed,
      list,
      onTools: published.publish,
      onEntry: published.republish,
      onGone: published.withdraw,
      onAny: () => ctx.contribute(Tools, ...resourceTools({ seenBy: sight, redact: secrets.redact })),
      untilReady: async (signal) => {
        while (host.phase() === 'starting') if (!(await clock.sleep(readyLookMs, signal))) return
      },
    })
    const sight = seenBy(servers, sessions)
    const shown = { ...listed, servers, published, redact: secrets.redact, workspace: () => host.workspaceRoot, oauth }
    ctx.contribute(ToolGates, credentialGate(servers, sessions))
    ctx.contribute(ToolArrivals, arrivals(servers, { clock, seenBy: sight }))
    ctx.contribute(SystemSections, instructionsSection(sight))
    ctx.contribute(SecretReferences, {
      id: 'mcp',
      of: (ref) => servers.using(ref).map((id) => ({ kind: 'mcp_server', id })),
    })
    ctx.contribute(StatusSections, mcpStatus(shown))
    ctx.contribute(RuntimeSections, mcpSection(shown))
    ctx.contribute(Metrics, ...mcpMetrics(shown, calls))
    ctx.health(mcpHealth(shown))
    ctx.repair(openCalls.repair)
    ctx.routes(
      ...catalogRoutes(shown),
      foundRoute(shown),
      ...mcpRoutes({ ...shown, state, ids, log, sessions, ledger, calls: openCalls, signal: ctx.signal }),
    )
    ctx.onStart(() => {
      credentials.look()
      const undo = [host.delayReady(() => requiredMissing(servers)), slots.onChange(servers.secretChanged)]
      const end = servers.begin()
      return async () => {
        for (const one of undo) one()
        await end()
      }
    })
  },
})
