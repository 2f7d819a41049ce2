/** The document that every hook gets. */
import {
  doc,
  enums,
  json,
  jsonObject,
  literal,
  object,
  optional,
  string,
  type JsonObject,
} from '../../../core/plugin.js'
import { moments, type Invocation } from '../../execution/interception/contract.js'
import type { HookDefinition } from './definitions.js'
import { familiarMembers } from './matching/familiar.js'

/** Of what a hook is sent. */
export const contractVersion = 1

export const HookInvocation = object({
  contract_version: doc(literal(contractVersion), 'Of this document.'),
  hook_name: doc(string(), 'The name of the hook.'),
  event: doc(enums(moments), 'The moment.'),
  subject: optional(doc(string(), 'What matchers look at.')),
  session_id: optional(doc(string(), 'Of the session; absent where none is concerned.')),
  agent_id: optional(doc(string(), 'Of the agent of the session.')),
  run_id: optional(doc(string(), 'Of the run; absent where none is concerned.')),
  payload: doc(jsonObject(), 'By the moment; see below.'),
  cwd: optional(
    doc(
      string(),
      'Where the run works, of which paths of the payload are; to commands always, else where it is not the workspace.',
    ),
  ),
  hook_event_name: optional(doc(string(), 'The moment as `PreToolUse`. To a command alone, as all that follows.')),
  tool_name: optional(doc(string(), 'That of the payload.')),
  tool_input: optional(doc(json(), 'That of the payload.')),
  tool_response: optional(doc(json(), '`tool_output` of the payload.')),
  prompt: optional(doc(string(), 'That of the payload.')),
})

/** `workspace` is where commands run. */
export const documentOf = (definition: HookDefinition, invocation: Invocation, workspace: string): JsonObject => {
  const { event, subject, session_id, agent_id, run_id, payload, cwd } = invocation
  return {
    contract_version: contractVersion,
    hook_name: definition.name,
    event,
    ...(subject !== undefined && { subject }),
    ...(session_id !== undefined && { session_id }),
    ...(agent_id !== undefined && { agent_id }),
    ...(run_id !== undefined && { run_id }),
    payload,
    ...(cwd !== undefined && { cwd }),
    ...(definition.executor.type === 'command' && familiarMembers(invocation, cwd ?? workspace)),
  }
}
