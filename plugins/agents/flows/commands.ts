/** Flows from the command line. */
import {
  array,
  boolean,
  defineCommand,
  isJsonObject,
  listedRows,
  open,
  optional,
  pageFlags,
  readRows,
  showRows,
  string,
  visibleLine,
  type Command,
  type CommandInput,
  type Infer,
  type Json,
} from '../../../core/plugin.js'
import { followRun, followRunFields, followRunFlags } from '../../execution/runs/contract.js'
import { flowErrors } from './errors.js'
import { flowStatuses } from './status.js'
import { showCommand } from './terminal/show-command.js'

const Evidence = open({ kind: string(), id: string() })
const Check = open({ name: string(), passed: boolean(), details: string() })
const Phase = open({ phase_id: string(), status: string(), missing_evidence: optional(array(Evidence)) })
const Flow = open({
  flow_id: string(),
  status: string(),
  session_id: string(),
  playbook_ref: open({ playbook_id: string(), version: string() }),
  run_id: optional(string()),
  phase_states: optional(array(Phase)),
  contract: open({ passed: boolean(), checks: optional(array(Check)) }),
})
type Flow = Infer<typeof Flow>

const row = ({ flow_id, status, session_id, playbook_ref: { playbook_id, version } }: Flow): string =>
  [visibleLine(flow_id), status, `${visibleLine(playbook_id)} ${visibleLine(version)}`, visibleLine(session_id)].join(
    '  ',
  )

const showAll = (flows: Flow[]): string =>
  flows.length === 0
    ? 'No flows yet. Start one: holdfast flows start SESSION PLAYBOOK VERSION TEXT --digest DIGEST'
    : flows.map(row).join('\n')

const phaseLine = ({ phase_id, status, missing_evidence = [] }: Infer<typeof Phase>): string => {
  const missing = missing_evidence.map(({ kind, id }) => `${kind}:${id}`).join(', ')
  return `  ${status}  ${visibleLine(phase_id)}${missing === '' ? '' : `  lacks ${visibleLine(missing)}`}`
}
const checkLine = ({ name, passed, details }: Infer<typeof Check>): string =>
  `  ${passed ? 'passed' : 'failed'}  ${visibleLine(name)}  ${visibleLine(details)}`

const detail = (flow: Flow): string =>
  [
    row(flow),
    ...(flow.run_id === undefined ? [] : [`  run  ${visibleLine(flow.run_id)}`]),
    ...(flow.phase_states ?? []).map(phaseLine),
    ...(flow.contract.checks ?? []).map(checkLine),
  ].join('\n')

const Verdict = open({ flow_id: string(), passed: boolean(), checks: array(Check) })
const showVerdict = ({ passed, checks }: Infer<typeof Verdict>): string =>
  [passed ? 'It is as it must be.' : 'It is not as it must be.', ...checks.map(checkLine)].join('\n')

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

/** `KIND:ID`, as kinds have no colon and ids may. */
const evidenceOf = ({ all }: CommandInput): Json[] =>
  all('evidence').map((text) => {
    const at = text.indexOf(':')
    return at < 0 ? { kind: text, id: '' } : { kind: text.slice(0, at), id: text.slice(at + 1) }
  })
const evidenceFlag = {
  evidence: { kind: 'text', value: 'kind:id', summary: 'What shows it; may be given again.', several: true },
} as const

const start = async (input: CommandInput): Promise<Json> => {
  const { args, client } = input
  const [flow_id, idempotency_key, evidence_refs] = [given(input, 'id'), given(input, 'key'), evidenceOf(input)]
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
    answer: listedRows(Flow),
    show: showRows(showAll),
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
    oneOf: ['--digest'],
    fields: {
      'body.flow_id': '--id',
      'body.idempotency_key': '--key',
      'body.playbook_ref.digest': '--digest',
      'body.playbook_ref.playbook_id': '<playbook_id>',
      'body.playbook_ref.version': '<version>',
      'body.request.content': '<text>',
      'body.evidence_refs': '--evidence',
    },
    run: start,
    answer: Flow,
    show: detail,
  }),
  defineCommand({
    path: ['flows', 'get'],
    route: 'GET /v1/flows/{flow_id}',
    summary: 'One flow with its phases and checks.',
    args: ['flow_id'],
    run: (input) => input.client.get(pathOf(input)),
    answer: Flow,
    show: detail,
  }),
  showCommand,
  defineCommand({
    path: ['flows', 'cancel'],
    route: 'POST /v1/flows/{flow_id}/cancel',
    summary: 'Cancels what still works for a flow.',
    args: ['flow_id'],
    run: (input) => input.client.send('POST', `${pathOf(input)}/cancel`, {}),
    answer: Flow,
    show: detail,
  }),
  defineCommand({
    path: ['flows', 'evidence'],
    route: 'POST /v1/flows/{flow_id}/evidence',
    summary: 'Adds evidence to a flow.',
    args: ['flow_id'],
    flags: evidenceFlag,
    oneOf: ['--evidence'],
    fields: { 'body.evidence_refs': '--evidence' },
    run: (input) => input.client.send('POST', `${pathOf(input)}/evidence`, { evidence_refs: evidenceOf(input) }),
    answer: Flow,
    show: detail,
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
    answer: Verdict,
    show: showVerdict,
    status: ({ passed }) => (passed ? 0 : 1),
  }),
  defineCommand({
    path: ['flows', 'stream'],
    route: 'GET /v1/flows/{flow_id}/stream',
    summary: 'Follows the root run of a flow, as runs watch does.',
    args: ['flow_id'],
    flags: followRunFlags,
    fields: followRunFields,
    run: async (input) => followRun(input, await rootRun(input)),
  }),
]
