/** The tool by which an agent starts another one (agents-15). */
import {
  array,
  boolean,
  brief,
  defaulted,
  digest,
  doc,
  enums,
  integer,
  notBlank,
  object,
  optional,
  string,
  unsafeCast,
  type Infer,
  type Json,
} from '../../../core/plugin.js'
import { GenerationSettings } from '../../execution/models/contract.js'
import { InputItem } from '../../execution/runs/contract.js'
import {
  agentRetentions,
  CapabilityScope,
  CredentialScope,
  Isolation,
  promptMergeModes,
} from '../../execution/sessions/contract.js'
import { defineTool, permissionModes, type Tool, type ToolCall } from '../../execution/tools/contract.js'
import { agentErrors } from './bounds/errors.js'
import { noControls } from './bounds/folder.js'
import { agentProfiles, type SpawnSidechainRequest, type SubtaskRequest } from './contract.js'
import { recordingRefusal, spawnAgent } from './spawn.js'
import { endOf, waitFor, type WaitParts } from './waiting.js'

const toolNames = (text: string) =>
  optional(doc(array(string({ min: 1, max: 200, pattern: notBlank }), { max: 256 }), text))

const SpawnInput = object({
  name: doc(string({ min: 1, max: 200, pattern: notBlank }), 'A short name for its work.'),
  description: optional(doc(string({ max: 4_000 }), 'Its work in a sentence.')),
  prompt: optional(doc(string(), 'What it is told. It knows nothing of this conversation.')),
  asset_ids: optional(doc(array(string({ min: 1, max: 400 }), { max: 100 }), 'Stored files that it is given.')),
  input_items: optional(
    array(
      brief(
        InputItem,
        'Behind the prompt: {"type":"text","text":…}, {"type":"asset_reference","asset_id":…} ' +
          'or {"type":"board_reference","board_id":…}.',
      ),
      { max: 100 },
    ),
  ),
  agent_type: optional(doc(enums(agentProfiles), 'default when absent.')),
  system_prompt: optional(doc(string({ max: 65_536 }), 'What it is told of itself.')),
  prompt_merge_mode: optional(doc(enums(promptMergeModes), 'replace when absent.')),
  provider: optional(doc(string({ min: 1, max: 200 }), 'Id of a model route; yours when absent.')),
  model: optional(string({ min: 1, max: 200 })),
  fallback_model: optional(string({ min: 1, max: 200 })),
  generation: optional(
    brief(
      GenerationSettings,
      'How its models are asked: model, fallback_model, temperature, max_output_tokens, reasoning {effort}.',
    ),
  ),
  mode: optional(doc(enums(permissionModes), 'Permission mode, at most as permissive as yours.')),
  retention: optional(doc(enums(agentRetentions), 'What becomes of it when its work is done; it stays when absent.')),
  nickname: optional(string({ min: 1, max: 200 })),
  allowed_tools: toolNames('Only these of your tools; names, or beginnings with a trailing star.'),
  blocked_tools: toolNames('None of these.'),
  capability_scope: optional(
    brief(
      CapabilityScope,
      'Lists of names, of those that you have: skill_allow, skill_deny, mcp_server_allow, mcp_server_deny, ' +
        'mcp_tool_allow, mcp_tool_deny.',
    ),
  ),
  credential_scope: optional(
    brief(
      CredentialScope,
      'Lists of names, of those that you have: route_allow, route_deny, connector_allow, connector_deny, ' +
        'connector_credential_allow, connector_credential_deny, mcp_server_allow, mcp_server_deny. ' +
        'Without it the routes alone, and none of connectors or servers.',
    ),
  ),
  cwd: optional(
    doc(string({ min: 1, max: 4096, pattern: noControls }), 'A folder within yours, which it sees as the workspace.'),
  ),
  session_id: optional(string({ min: 1, max: 200 })),
  thread_id: optional(string({ min: 1, max: 200 })),
  team_name: optional(string({ min: 1, max: 200 })),
  isolation: optional(doc(Isolation, 'worktree: its runs change a copy of the workspace.')),
  wait: optional(doc(boolean(), 'True to wait for its answer, the same as run_in_background false.')),
  run_in_background: optional(doc(boolean(), 'True, as when absent, to go on at once; wait_agent waits for it later.')),
  timeout_ms: defaulted(doc(integer({ min: 0, max: 110_000 }), 'Milliseconds to wait for it.'), 60_000),
})
type SpawnInput = Infer<typeof SpawnInput>

export const spawnTool = (parts: WaitParts): Tool =>
  defineTool({
    name: 'spawn_agent',
    seldom: true,
    description:
      'Starts an agent of your own for a part of the work, in a session of its own. It may do what you may, or less. ' +
      'Its last answer is told to you where you wait for it.',
    input: SpawnInput,
    effect: 'idempotent',
    permission: 'allow',
    parallel: true,
    in_plan_mode: true,
    timeout_ms: 120_000,
    sandbox: 'inherited',
    run: async (input, call) => {
      const self = parts.sessions.get(call.session_id)
      const by = { parent_agent_id: self.agent_id, run_id: call.run_id }
      const said = () => ({ waits: waitsFor(input), request: requestOf(input, call) })
      const { waits, request } = await recordingRefusal(parts, by, said)
      const record = await spawnAgent(parts, {
        ...by,
        request,
        profile: input.agent_type ?? 'default',
        digest: digest({ by: self.agent_id, ...input }),
      })
      if (waits)
        await waitFor(parts, call, { session_ids: [record.session_id], how: 'all', timeout_ms: input.timeout_ms })
      const { agent_id, session_id, launch_run_id, name, path, nickname, retention } = record
      const session = parts.sessions.get(session_id)
      const output = {
        agent_id,
        session_id,
        ...endOf(parts, session),
        run_in_background: !waits,
        launch_run_id,
        team_name: input.team_name,
        isolation: session.isolation ?? 'shared',
        name,
        path,
        nickname,
        retention,
      }
      return { type: 'result', output: unsafeCast<Json>(output) }
    },
  })

/** Throws `spawn_conflict` where a call says both that it waits and that it goes on. */
const waitsFor = ({ wait, run_in_background }: SpawnInput): boolean => {
  if (wait !== undefined && wait === run_in_background)
    throw agentErrors.spawn_conflict({
      details: { reason: `wait and run_in_background are both ${wait}` },
      errors: [{ path: 'body.run_in_background', rule: 'must be the opposite of wait' }],
    })
  return wait ?? run_in_background === false
}

/** The call's own key names the request: a call that is made again finds the agent that it has started. */
const requestOf = (input: SpawnInput, call: ToolCall): SpawnSidechainRequest => {
  const { allowed_tools = [], blocked_tools = [] } = input
  const { session_id, thread_id, mode, nickname, capability_scope, credential_scope, cwd } = input
  return {
    session_id,
    thread_id,
    ...routeOf(input),
    capability_scope,
    credential_scope,
    cwd,
    permission_mode: mode,
    retention: input.retention ?? 'retain',
    nickname,
    spawn_request_id: call.key,
    fork_context: {
      parent_assistant_message: '',
      inherited_tool_call_ids: [call.tool_call_id],
      system_prompt: input.system_prompt ?? '',
      prompt_merge_mode: input.prompt_merge_mode ?? 'replace',
      ...(input.team_name !== undefined && { team_name: input.team_name }),
      ...(input.isolation !== undefined && { isolation: input.isolation }),
    },
    ...(allowed_tools.length + blocked_tools.length > 0 && {
      tool_surface: { allowlist: allowed_tools, denylist: blocked_tools },
    }),
    subtask: subtaskOf(input),
  }
}

/** Throws `spawn_conflict` where a model is named in two ways that differ. */
const routeOf = ({ provider, model, fallback_model, generation }: SpawnInput) => {
  const named = {
    ...(model !== undefined && { model }),
    ...(fallback_model !== undefined && { fallback_model }),
  }
  const asked = { ...generation, ...named }
  if (Object.entries(named).some(([member, value]) => (Reflect.get(generation ?? named, member) ?? value) !== value))
    throw agentErrors.spawn_conflict({
      details: { reason: 'model and fallback_model, and those of generation' },
      errors: [{ path: 'body.generation', rule: 'must say the same' }],
    })
  const route_policy = {
    ...(provider !== undefined && { provider }),
    ...(Object.keys(asked).length > 0 && { generation: asked }),
  }
  return Object.keys(route_policy).length === 0 ? {} : { route_policy }
}

const subtaskOf = (input: SpawnInput): SubtaskRequest => {
  const { name, description = '', prompt = '', asset_ids = [], input_items: given = [] } = input
  const files = asset_ids.map((asset_id) => ({ type: 'asset_reference' as const, asset_id }))
  const words = prompt === '' ? [] : [{ type: 'text' as const, text: prompt }]
  return files.length + given.length === 0
    ? { name, description, content: prompt }
    : { name, description, content: '', input_items: [...words, ...given, ...files] }
}
