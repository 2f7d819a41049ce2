import {
  defineCommand,
  listedRows,
  open,
  optional,
  searchedRows,
  showRows,
  string,
  visibleLine,
  type Command,
  type CommandInput,
  type Infer,
  type JsonObject,
  pageFlags,
} from '../../../core/plugin.js'

const Row = open({
  derivation_id: string(),
  profile: string(),
  status: string(),
  subject: open({
    type: string(),
    asset_id: optional(string()),
    observation_id: optional(string()),
    session_id: optional(string()),
  }),
  result_asset_id: string(),
  error: optional(string()),
})
type Row = Infer<typeof Row>

const showDerivation = ({ derivation_id, profile, status, subject, result_asset_id, error }: Row): string => {
  const { type, asset_id, observation_id, session_id } = subject
  const of = visibleLine(asset_id ?? observation_id ?? session_id ?? type)
  const became = status === 'failed' ? visibleLine(error ?? '') : visibleLine(result_asset_id)
  return `${visibleLine(derivation_id)}  ${visibleLine(profile)}  ${of}  ${visibleLine(status)}  ${became}`
}
const showDerivations = (rows: Row[]): string =>
  rows.length === 0
    ? 'No derivations yet. Make one: holdfast derivations create canonical-text --asset ASSET_ID'
    : rows.map(showDerivation).join('\n')

type Flags = CommandInput['flags']
const textOf = (flags: Flags, name: string): string | undefined => {
  const value = flags[name]
  return typeof value === 'string' ? value : undefined
}

const subjectOf = (flags: Flags): JsonObject => {
  const [asset_id, observation_id] = [textOf(flags, 'asset'), textOf(flags, 'observation')]
  if (asset_id !== undefined) return { type: 'asset', asset_id }
  if (observation_id !== undefined) return { type: 'observation', observation_id }
  const offset = textOf(flags, 'offset') ?? ''
  return {
    type: 'session_input',
    session_id: textOf(flags, 'session') ?? '',
    offset: /^\d{1,15}$/u.test(offset) ? Number(offset) : offset,
  }
}

const transcriptionOf = (flags: Flags): JsonObject => {
  const [prompt, language, times] = ['prompt', 'language', 'timestamps'].map((name) => textOf(flags, name))
  const options = {
    ...(prompt !== undefined && { prompt }),
    ...(language !== undefined && { language }),
    ...(times !== undefined && { timestamp_granularities: times.split(',').map((word) => word.trim()) }),
  }
  return Object.keys(options).length === 0 ? {} : { transcription: options }
}

const create = ({ client, args, flags }: CommandInput) => {
  const query = [
    ...(flags['force-refresh'] === true ? ['force_refresh=true'] : []),
    ...(flags['retry-failed'] === true ? ['retry_failed=true'] : []),
  ].join('&')
  return client.send('POST', `/v1/derivations${query === '' ? '' : `?${query}`}`, {
    profile: (args['profile'] ?? '').replaceAll('-', '_'),
    subject: subjectOf(flags),
    ...transcriptionOf(flags),
  })
}

export const commands: readonly Command[] = [
  defineCommand({
    path: ['derivations', 'list'],
    route: 'GET /v1/derivations',
    summary: 'What was derived, by id.',
    flags: {
      query: {
        kind: 'text',
        summary: 'Only those whose id, profile, subject, result, status or error holds this text.',
      },
      ...pageFlags,
    },
    run: (input) => searchedRows(input, '/v1/derivations'),
    answer: listedRows(Row),
    show: showRows(showDerivations),
  }),
  defineCommand({
    path: ['derivations', 'get'],
    route: 'GET /v1/derivations/{derivation_id}',
    summary: 'One derivation.',
    args: ['derivation_id'],
    run: ({ client, args }) => client.get(`/v1/derivations/${encodeURIComponent(args['derivation_id'] ?? '')}`),
  }),
  defineCommand({
    path: ['derivations', 'create'],
    route: 'POST /v1/derivations',
    summary: 'Derives the words of something, or a picture of it; what was derived before is told again.',
    args: ['profile'],
    choices: { profile: ['canonical-text', 'visual-preview'] },
    oneOf: ['--asset', '--observation', '--session'],
    flags: {
      asset: { kind: 'text', value: 'asset_id', summary: 'Of this asset.' },
      observation: { kind: 'text', value: 'observation_id', summary: 'Of this observation.' },
      session: { kind: 'text', value: 'session_id', summary: 'Of what a run of this session was told.' },
      offset: { kind: 'text', value: 'seq', summary: 'Which entry of the session: seq of its entry accepted.' },
      prompt: { kind: 'text', summary: 'Of speech: what it is about, how names are spelled.' },
      language: { kind: 'text', value: 'language', summary: 'Of speech: such as en.' },
      timestamps: {
        kind: 'text',
        value: 'word,segment',
        summary: 'Of speech: keep the times of words, segments or both.',
      },
      'force-refresh': { kind: 'switch', summary: 'Derive it anew, whatever is there.' },
      'retry-failed': { kind: 'switch', summary: 'Derive it anew where it failed.' },
    },
    fields: {
      'body.subject': '--asset',
      'body.subject.type': '--asset',
      'body.subject.asset_id': '--asset',
      'body.subject.observation_id': '--observation',
      'body.subject.session_id': '--session',
      'body.subject.offset': '--offset',
      'body.transcription': '--prompt',
      'body.transcription.prompt': '--prompt',
      'body.transcription.language': '--language',
      'body.transcription.timestamp_granularities': '--timestamps',
    },
    run: create,
    answer: Row,
    show: showDerivation,
  }),
]
