/** Playbooks from the command line. */
import {
  array,
  defineCommand,
  listedRows,
  open,
  optional,
  pageFlags,
  readRows,
  showRows,
  string,
  boolean,
  visibleLine,
  type Command,
  type CommandInput,
  type Infer,
  type Json,
} from '../../../core/plugin.js'
import { evidenceFlag, givenEvidence } from './evidence-flag.js'
import { publishedStatuses, releaseStatuses } from './record.js'

const Version = open({ version: string(), digest: string(), status: string(), revoked_reason: optional(string()) })
const Playbook = open({
  playbook_id: string(),
  title: string(),
  versions: array(Version),
  active_version: optional(string()),
})
type Playbook = Infer<typeof Playbook>

const row = ({ playbook_id, title, versions, active_version }: Playbook): string =>
  [
    visibleLine(playbook_id),
    active_version === undefined ? `${versions.at(-1)?.status ?? ''}` : `active ${visibleLine(active_version)}`,
    visibleLine(title),
  ].join('  ')

const showAll = (playbooks: Playbook[]): string =>
  playbooks.length === 0
    ? 'No playbooks yet. Make one: holdfast playbooks create --file MANIFEST.json'
    : playbooks.map(row).join('\n')

const detail = (playbook: Playbook): string =>
  [
    row(playbook),
    ...playbook.versions.map(
      ({ version, digest, status, revoked_reason }) =>
        `  ${visibleLine(version)}  ${status}  ${visibleLine(digest)}` +
        (revoked_reason === undefined ? '' : `  ${visibleLine(revoked_reason)}`),
    ),
  ].join('\n')

const Verdict = open({
  valid: boolean(),
  digest: optional(string()),
  errors: optional(array(string())),
  warnings: optional(array(string())),
})
const showVerdict = ({ valid, digest, errors = [], warnings = [] }: Infer<typeof Verdict>): string =>
  [
    valid ? `It is valid; its digest is ${visibleLine(digest ?? '')}.` : 'It is not valid.',
    ...errors.map((error) => `error    ${visibleLine(error)}`),
    ...warnings.map((warning) => `warning  ${visibleLine(warning)}`),
  ].join('\n')

const pathOf = ({ args }: CommandInput): string => `/v1/playbooks/${encodeURIComponent(args['playbook_id'] ?? '')}`
const given = ({ flags }: CommandInput, name: string): string | undefined =>
  typeof flags[name] === 'string' ? flags[name] : undefined

const listPath = (input: CommandInput): string => {
  const wishes = ['query', 'status'].flatMap((name) => {
    const value = given(input, name)
    return value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]
  })
  return wishes.length === 0 ? '/v1/playbooks' : `/v1/playbooks?${wishes.join('&')}`
}

const manifestFlags = {
  'manifest-json': { kind: 'text', value: 'json', summary: 'The manifest.' },
  file: { kind: 'text', value: 'file', summary: 'Read it from this file.' },
  stdin: { kind: 'switch', summary: 'Read it from standard input.' },
} as const
const manifestFields = { 'body.manifest.*': ['--file', '--stdin', '--manifest-json'] }
const manifestOf = async ({ json }: CommandInput): Promise<Json> => ({
  manifest: (await json('manifest-json')) ?? null,
})

const namedFlags = {
  digest: { kind: 'text', summary: 'Digest of the version that you have looked at.' },
  ...evidenceFlag,
} as const

export const commands: readonly Command[] = [
  defineCommand({
    path: ['playbooks', 'list'],
    route: 'GET /v1/playbooks',
    summary: 'Playbooks by id.',
    flags: {
      query: { kind: 'text', summary: 'Only those whose id, title, objective or digest holds this text.' },
      status: { kind: 'text', summary: 'Only those with a version in this status.' },
      ...pageFlags,
    },
    choices: { status: releaseStatuses },
    run: (input) => readRows(input, listPath(input)),
    answer: listedRows(Playbook),
    show: showRows(showAll),
  }),
  defineCommand({
    path: ['playbooks', 'get'],
    route: 'GET /v1/playbooks/{playbook_id}',
    summary: 'One playbook with its versions; with --output json the manifest too.',
    args: ['playbook_id'],
    flags: { version: { kind: 'text', summary: 'Whose manifest; that of the active or newest version when absent.' } },
    run: (input) => {
      const version = given(input, 'version')
      return input.client.get(
        `${pathOf(input)}${version === undefined ? '' : `?version=${encodeURIComponent(version)}`}`,
      )
    },
    answer: Playbook,
    show: detail,
  }),
  defineCommand({
    path: ['playbooks', 'validate'],
    route: 'POST /v1/playbooks/validate',
    summary: 'What is wrong with a manifest, and what is unwise; exit code 1 if it is not valid.',
    flags: manifestFlags,
    oneOf: ['--file', '--stdin', '--manifest-json'],
    fields: manifestFields,
    run: async (input) => input.client.send('POST', '/v1/playbooks/validate', await manifestOf(input)),
    answer: Verdict,
    show: showVerdict,
    status: ({ valid }) => (valid ? 0 : 1),
  }),
  defineCommand({
    path: ['playbooks', 'create'],
    route: 'POST /v1/playbooks',
    summary: 'Keeps a manifest as a version of its playbook, as a draft.',
    flags: manifestFlags,
    oneOf: ['--file', '--stdin', '--manifest-json'],
    fields: manifestFields,
    run: async (input) => input.client.send('POST', '/v1/playbooks', await manifestOf(input)),
    answer: Playbook,
    show: detail,
  }),
  defineCommand({
    path: ['playbooks', 'publish'],
    route: 'POST /v1/playbooks/{playbook_id}/publish',
    summary: 'Lets flows be started of a version.',
    args: ['playbook_id', 'version'],
    flags: {
      ...namedFlags,
      evidence: { ...evidenceFlag.evidence, summary: 'What shows that it may be, at least once; may be given again.' },
      status: { kind: 'text', summary: 'How far it is trusted; active when absent.' },
    },
    needs: ['--digest', '--evidence'],
    choices: { status: publishedStatuses },
    fields: { 'body.evidence_refs': '--evidence' },
    run: (input) =>
      input.client.send('POST', `${pathOf(input)}/publish`, {
        version: input.args['version'] ?? '',
        digest: given(input, 'digest') ?? '',
        evidence_refs: givenEvidence(input),
        ...(given(input, 'status') !== undefined && { status: given(input, 'status') }),
      }),
    answer: Playbook,
    show: detail,
  }),
  defineCommand({
    path: ['playbooks', 'revoke'],
    route: 'POST /v1/playbooks/{playbook_id}/revoke',
    summary: 'Lets no flow be started of a version any more.',
    args: ['playbook_id', 'version', 'reason'],
    flags: namedFlags,
    needs: ['--digest'],
    fields: { 'body.evidence_refs': '--evidence' },
    run: (input) =>
      input.client.send('POST', `${pathOf(input)}/revoke`, {
        version: input.args['version'] ?? '',
        digest: given(input, 'digest') ?? '',
        reason: input.args['reason'] ?? '',
        evidence_refs: givenEvidence(input),
      }),
    answer: Playbook,
    show: detail,
  }),
]
