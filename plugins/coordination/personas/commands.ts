import {
  cursorFlag,
  defineCommand,
  listedRows,
  number,
  open,
  searchedRows,
  showRows,
  string,
  visibleLine,
  type Command,
  type Infer,
} from '../../../core/plugin.js'

const Row = open({ persona_id: string(), display_name: string(), version: number() })

const showPersona = ({ persona_id, display_name, version }: Infer<typeof Row>): string =>
  `${visibleLine(persona_id)}  ${visibleLine(display_name)}  version ${version}`

const showPersonas = (rows: Infer<typeof Row>[]): string =>
  rows.length === 0
    ? 'No personas yet. Create one: holdfast personas create NAME --soul TEXT'
    : rows.map(showPersona).join('\n')

export const commands: readonly Command[] = [
  defineCommand({
    path: ['personas', 'list'],
    route: 'GET /v1/personas',
    summary: 'Personas by id.',
    flags: { query: { kind: 'text', summary: 'Only those whose id or name holds this text.' }, ...cursorFlag },
    run: (input) => searchedRows(input, '/v1/personas'),
    answer: listedRows(Row),
    show: showRows(showPersonas),
  }),
  defineCommand({
    path: ['personas', 'get'],
    route: 'GET /v1/personas/{persona_id}',
    summary: 'One persona, with its soul.',
    args: ['persona_id'],
    run: ({ client, args }) => client.get(`/v1/personas/${encodeURIComponent(args['persona_id'] ?? '')}`),
  }),
  defineCommand({
    path: ['personas', 'create'],
    route: 'POST /v1/personas',
    summary: 'Creates a persona.',
    args: ['display_name'],
    flags: {
      id: { kind: 'text', summary: 'Its id; made if it is left out.' },
      soul: { kind: 'text', summary: 'What the model is told about who it is.' },
      'default-skills': {
        kind: 'text',
        value: 'NAME,…',
        summary: 'Skills that are in use from the beginning of every run.',
      },
    },
    fields: { 'body.persona_id': '--id' },
    run: ({ client, args, flags }) =>
      client.send('POST', '/v1/personas', {
        display_name: args['display_name'] ?? '',
        ...(typeof flags['id'] === 'string' && { persona_id: flags['id'] }),
        ...(typeof flags['soul'] === 'string' && { soul: flags['soul'] }),
        ...(typeof flags['default-skills'] === 'string' && {
          default_skills: flags['default-skills'].split(',').map((name) => ({ name })),
        }),
      }),
    answer: Row,
    show: showPersona,
  }),
]
