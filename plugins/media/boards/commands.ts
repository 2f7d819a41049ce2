import {
  array,
  commandErrors,
  count,
  defineCommand,
  isJsonObject,
  listedRows,
  number,
  open,
  optional,
  pageFlags,
  parse,
  readRows,
  searchedRows,
  showRows,
  string,
  visibleLine,
  type Command,
  type CommandInput,
  type Infer,
  type JsonObject,
  showTime,
} from '../../../core/plugin.js'
import { download, Downloaded, showDownloaded, toFlag } from '../assets/contract.js'
import { boardErrors } from './record/errors.js'

const BoardRow = open({
  board_id: string(),
  display_name: string(),
  revision_count: number(),
  owner_session_id: optional(string()),
})
const showBoard = ({ board_id, display_name, revision_count, owner_session_id }: Infer<typeof BoardRow>): string =>
  [
    visibleLine(board_id),
    count(revision_count, 'revision'),
    visibleLine(display_name),
    ...(owner_session_id === undefined ? [] : [`of ${visibleLine(owner_session_id)}`]),
  ].join('  ')
const showBoards = (rows: Infer<typeof BoardRow>[]): string =>
  rows.length === 0 ? 'No boards yet. Make one: holdfast boards create --name NAME' : rows.map(showBoard).join('\n')

const RevisionRow = open({
  revision_id: string(),
  render_asset_id: string(),
  created_at_ms: number(),
  note: optional(string()),
})
const showRevision = ({ revision_id, render_asset_id, created_at_ms, note }: Infer<typeof RevisionRow>): string =>
  [
    visibleLine(revision_id),
    showTime(created_at_ms),
    visibleLine(render_asset_id),
    ...(note === undefined ? [] : [visibleLine(note)]),
  ].join('  ')

const pathOf = ({ args }: CommandInput): string => `/v1/boards/${encodeURIComponent(args['board_id'] ?? '')}`
const revisionsOf = (input: CommandInput): string => `${pathOf(input)}/revisions`

const newestOf = async (input: CommandInput): Promise<string | undefined> => {
  const board = await input.client.get(pathOf(input))
  const newest = isJsonObject(board) ? board['latest_revision_id'] : undefined
  return typeof newest === 'string' ? newest : undefined
}

const Revisions = array(open({ client_revision_id: optional(string()), previous_revision_id: optional(string()) }))
/** What a revision is to follow: of one that is there under its `--client-id`, what that one follows. */
const previousOf = async (input: CommandInput): Promise<string | undefined> => {
  const client_id = input.flags['client-id']
  const parsed =
    typeof client_id === 'string' ? parse(Revisions, await input.client.get(revisionsOf(input))) : undefined
  const made = parsed?.ok === true ? parsed.value.find((one) => one.client_revision_id === client_id) : undefined
  return made === undefined ? newestOf(input) : made.previous_revision_id
}

/** The asset of the picture of a revision, the newest where none is named. */
const pictureOf = async (input: CommandInput): Promise<string> => {
  const { client, args } = input
  const revision_id = args['revision_id'] ?? (await newestOf(input))
  if (revision_id === undefined) throw boardErrors.board_blank({ details: { board_id: args['board_id'] ?? '' } })
  const answer = parse(RevisionRow, await client.get(`${revisionsOf(input)}/${encodeURIComponent(revision_id)}`))
  if (!answer.ok) throw commandErrors.answer_unreadable({ details: { url: client.baseUrl } })
  return answer.value.render_asset_id
}

/** Members of a body from the flags that were given. */
const bodyOf = ({ flags }: CommandInput, fields: Readonly<Record<string, string>>): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([flag, field]) => (typeof flags[flag] === 'string' ? [[field, flags[flag]]] : [])),
  )

const metadataOf = async (input: CommandInput): Promise<JsonObject> => {
  const metadata = await input.json('metadata')
  return metadata === undefined ? {} : { metadata }
}
const metadataFlag = {
  metadata: { kind: 'text', value: 'json', summary: 'An object that is kept with it.' },
} as const
const nameFlag = { name: { kind: 'text', summary: 'What people call it.' } } as const

const draft = {
  previous: 'previous_revision_id',
  'client-id': 'client_revision_id',
  render: 'render_asset_id',
  state: 'state_asset_id',
  note: 'note',
  session: 'source_session_id',
  run: 'source_run_id',
} as const

export const commands: readonly Command[] = [
  defineCommand({
    path: ['boards', 'list'],
    route: 'GET /v1/boards',
    summary: 'Boards by id.',
    flags: {
      query: { kind: 'text', summary: 'Only those whose id or name holds this text.' },
      ...pageFlags,
    },
    run: (input) => searchedRows(input, '/v1/boards'),
    answer: listedRows(BoardRow),
    show: showRows(showBoards),
  }),
  defineCommand({
    path: ['boards', 'get'],
    route: 'GET /v1/boards/{board_id}',
    summary: 'One board.',
    args: ['board_id'],
    run: (input) => input.client.get(pathOf(input)),
  }),
  defineCommand({
    path: ['boards', 'create'],
    route: 'POST /v1/boards',
    summary: 'Makes a board.',
    needs: ['--name'],
    flags: {
      ...nameFlag,
      id: { kind: 'text', summary: 'Its id; made by the daemon when absent.' },
      session: { kind: 'text', summary: 'The one session that may draw on it; any may when absent.' },
      ...metadataFlag,
    },
    fields: { 'body.display_name': '--name', 'body.board_id': '--id', 'body.owner_session_id': '--session' },
    run: async (input) =>
      input.client.send('POST', '/v1/boards', {
        ...bodyOf(input, { name: 'display_name', id: 'board_id', session: 'owner_session_id' }),
        ...(await metadataOf(input)),
      }),
    answer: BoardRow,
    show: showBoard,
  }),
  defineCommand({
    path: ['boards', 'update'],
    route: 'PUT /v1/boards/{board_id}',
    summary: 'Changes what a board is called, or its metadata.',
    args: ['board_id'],
    flags: { ...nameFlag, ...metadataFlag },
    oneOf: ['--name', '--metadata'],
    fields: { 'body.display_name': '--name' },
    run: async (input) =>
      input.client.send('PUT', pathOf(input), {
        ...bodyOf(input, { name: 'display_name' }),
        ...(await metadataOf(input)),
      }),
    answer: BoardRow,
    show: showBoard,
  }),
  defineCommand({
    path: ['boards', 'revisions'],
    route: 'GET /v1/boards/{board_id}/revisions',
    summary: 'Revisions of a board, the newest first.',
    args: ['board_id'],
    flags: pageFlags,
    run: (input) => readRows(input, revisionsOf(input)),
    answer: listedRows(RevisionRow),
    show: showRows((rows: Infer<typeof RevisionRow>[]) =>
      rows.length === 0 ? 'The board has no revision yet.' : rows.map(showRevision).join('\n'),
    ),
  }),
  defineCommand({
    path: ['boards', 'get-revision'],
    route: 'GET /v1/boards/{board_id}/revisions/{revision_id}',
    summary: 'One revision of a board.',
    args: ['board_id', 'revision_id'],
    run: (input) => input.client.get(`${revisionsOf(input)}/${encodeURIComponent(input.args['revision_id'] ?? '')}`),
  }),
  defineCommand({
    path: ['boards', 'download'],
    route: 'GET /v1/boards/{board_id}/revisions/{revision_id}',
    summary: 'Writes the picture of a revision to a file that is not there yet; the newest revision when absent.',
    args: ['board_id', 'revision_id?'],
    flags: { ...toFlag },
    run: async (input) => download(input, await pictureOf(input)),
    answer: Downloaded,
    show: showDownloaded,
  }),
  defineCommand({
    path: ['boards', 'create-revision'],
    route: 'POST /v1/boards/{board_id}/revisions',
    summary: 'Makes a revision of stored assets, behind the newest one.',
    args: ['board_id'],
    needs: ['--render'],
    flags: {
      render: { kind: 'text', value: 'asset_id', summary: 'The picture.' },
      state: { kind: 'text', value: 'asset_id', summary: 'The state, JSON.' },
      previous: { kind: 'text', value: 'revision_id', summary: 'What it follows; the newest revision when absent.' },
      'client-id': { kind: 'text', summary: 'Names it: the same line again makes no second one.' },
      note: { kind: 'text', summary: 'What is new.' },
      session: { kind: 'text', summary: 'The session that made it.' },
      run: { kind: 'text', summary: 'The run that made it.' },
      ...metadataFlag,
    },
    fields: Object.fromEntries(Object.entries(draft).map(([flag, field]) => [`body.${field}`, `--${flag}`])),
    run: async (input) => {
      const newest = typeof input.flags['previous'] === 'string' ? undefined : await previousOf(input)
      return input.client.send('POST', revisionsOf(input), {
        ...(newest !== undefined && { previous_revision_id: newest }),
        ...bodyOf(input, draft),
        ...(await metadataOf(input)),
      })
    },
    answer: RevisionRow,
    show: showRevision,
  }),
]
