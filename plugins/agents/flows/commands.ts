/** Flows from the command line. */
import {
  defineCommand,
  isJsonObject,
  listedRows,
  pageFlags,
  parse,
  readRows,
  showRows,
  type Command,
  type CommandInput,
  type Json,
} from '../../../core/plugin.js'
import { followRun, followRunFields, followRunFlags } from '../../execution/runs/contract.js'
import { evidenceFlag, givenEvidence } from '../playbooks/contract.js'
import { flowErrors } from './errors.js'
import { flowStatuses } from './status.js'
import { ShownVerdict, showVerdict } from './terminal/check-text.js'
import { flowCode, showFlow, ShownFlow, showFlowBehind, showFlows } from './terminal/flow-text.js'
import { showCommand } from './terminal/show-command.js'

const pathOf = ({ args }: CommandInput): string => `/v1/flows/${encodeURIComponent(args['flow_id'] ?? '')}`
const given = ({ flags }: CommandInput, name: string): string | undefined =>
  typeof flags[name] === 'string' ? flags[name] : undefined

const filters = { playbook: 'playbook_id', session: 'session_id', status: 'status' } as const
const listPath = (input: CommandInput): string => {
  const wishes = Object.entries(filters).flatMap(([flag, field]) => {
    const value = given(input, flag)
    return value === undefined ? [] : [`${field}=${encodeURIComponent(value)}`]
  })
  return wishes.length === 0 ? '/v1/flows' : `/v1/flows?${wishes.join('&')}`
}

const start = async (input: CommandInput): Promise<Json> => {
  const { args, client } = input
  const [flow_id, idempotency_key, evidence_refs] = [given(input, 'id'), given(input, 'key'), givenEvidence(input)]
  return client.send('POST', '/v1/flows', {
    ...(flow_id !== undefined && { flow_id }),
    ...(idempotency_key !== undefined && { idempotency_key }),
    playbook_ref: {
      playbook_id: args['playbook_id'] ?? '',
      version: args['version'] ?? '',
      digest: given(input, 'digest') ?? '',
    },
    session_id: args['session_id'] ?? '',
    request: { content: args['text'] ?? '' },
    ...(evidence_refs.length > 0 && { evidence_refs }),
  })
}

const rootRun = async (input: CommandInput): Promise<string> => {
  const flow = await input.client.get(pathOf(input))
  const run_id = isJsonObject(flow) ? flow['run_id'] : undefined
  if (typeof run_id === 'string') return run_id
  throw flowErrors.flow_not_found({ details: { flow_id: input.args['flow_id'] ?? '' } })
}

/** Its root run to the end, and then the flow, where it is otherwise than its root run. */
const stream = async (input: CommandInput): Promise<void> => {
  await followRun(input, await rootRun(input), input.args['flow_id'])
  if (input.signal.aborted) return
  const parsed = parse(ShownFlow, await input.client.get(pathOf(input)))
  const text = parsed.ok ? showFlowBehind(parsed.value) : undefined
  if (!parsed.ok || text === undefined) return
  if (input.output === 'pretty') input.print(text)
  const code = flowCode(parsed.value)
  if (code !== undefined) input.exitWith(code)
}

export const commands: readonly Command[] = [
  defineCommand({
    path: ['flows', 'list'],
    route: 'GET /v1/flows',
    summary: 'Flows, the newest first.',
    flags: {
      playbook: { kind: 'text', summary: 'Only those of this playbook.' },
      session: { kind: 'text', summary: 'Only those of this session.' },
      status: { kind: 'text', summary: 'Only those in this status.' },
      ...pageFlags,
    },
    choices: { status: flowStatuses },
    fields: { 'query.playbook_id': '--playbook', 'query.session_id': '--session' },
    run: (input) => readRows(input, listPath(input)),
    answer: listedRows(ShownFlow),
    show: showRows(showFlows),
  }),
  defineCommand({
    path: ['flows', 'start'],
    route: 'POST /v1/flows',
    summary: 'Starts a flow of a playbook in a session; the text is what its root run is told.',
    args: ['session_id', 'playbook_id', 'version', 'text'],
    flags: {
      digest: { kind: 'text', summary: 'Digest of the version that you have looked at.' },
      id: { kind: 'text', summary: 'Its id; made by the daemon when absent.' },
      key: { kind: 'text', summary: 'Idempotency key: the same line again starts no second one.' },
      ...evidenceFlag,
    },
    needs: ['--digest'],
    fields: {
      'body.flow_id': '--id',
      'body.idempotency_key': '--key',
      'body.playbook_ref.digest': '--digest',
      'body.playbook_ref.playbook_id': '<playbook_id>',
      'body.playbook_ref.version': '<version>',
      'body.playbook_ref.runtime_defaults.provider': 'runtime_defaults.provider of the playbook',
      'body.request.content': '<text>',
      'body.evidence_refs': '--evidence',
      'header.idempotency-key': '--key',
    },
    run: start,
    answer: ShownFlow,
    show: showFlow,
  }),
  defineCommand({
    path: ['flows', 'get'],
    route: 'GET /v1/flows/{flow_id}',
    summary: 'One flow with its phases and checks, what belongs to it, and what to type next.',
    args: ['flow_id'],
    run: (input) => input.client.get(pathOf(input)),
    answer: ShownFlow,
    show: showFlow,
  }),
  showCommand,
  defineCommand({
    path: ['flows', 'cancel'],
    route: 'POST /v1/flows/{flow_id}/cancel',
    summary: 'Cancels what still works for a flow.',
    args: ['flow_id'],
    run: (input) => input.client.send('POST', `${pathOf(input)}/cancel`, {}),
    answer: ShownFlow,
    show: showFlow,
  }),
  defineCommand({
    path: ['flows', 'evidence'],
    route: 'POST /v1/flows/{flow_id}/evidence',
    summary: 'Adds evidence to a flow.',
    args: ['flow_id'],
    flags: evidenceFlag,
    needs: ['--evidence'],
    fields: { 'body.evidence_refs': '--evidence' },
    run: (input) => input.client.send('POST', `${pathOf(input)}/evidence`, { evidence_refs: givenEvidence(input) }),
    answer: ShownFlow,
    show: showFlow,
  }),
  defineCommand({
    path: ['flows', 'verify-product-view'],
    route: 'POST /v1/flows/{flow_id}/verify/product-view',
    summary: 'Looks whether a report is there with its sections; exit code 1 if it is not as it must be.',
    args: ['flow_id', 'report_path'],
    flags: {
      section: { kind: 'text', summary: 'A heading that it must have; may be given again.', several: true },
      'forbid-tool': {
        kind: 'text',
        summary: 'A tool that no run may have called; may be given again.',
        several: true,
      },
    },
    fields: { 'body.required_sections': '--section', 'body.forbidden_tools': '--forbid-tool' },
    run: (input) =>
      input.client.send('POST', `${pathOf(input)}/verify/product-view`, {
        report_path: input.args['report_path'] ?? '',
        required_sections: [...input.all('section')],
        forbidden_tools: [...input.all('forbid-tool')],
      }),
    answer: ShownVerdict,
    show: showVerdict,
    status: ({ passed }) => (passed ? 0 : 1),
  }),
  defineCommand({
    path: ['flows', 'stream'],
    route: 'GET /v1/flows/{flow_id}/stream',
    summary: 'Follows the root run of a flow, as runs watch does, and says how the flow is then.',
    args: ['flow_id'],
    flags: followRunFlags,
    fields: followRunFields,
    run: stream,
  }),
]
