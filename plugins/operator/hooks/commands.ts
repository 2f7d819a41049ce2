/** Hooks from the command line. */
import {
  defineCommand,
  integer,
  open,
  unsafeCast,
  type Command,
  type CommandInput,
  type Json,
} from '../../../core/plugin.js'

const base = '/v1/runtime/hooks'

/** The document as it is given, `{"hooks":{…}}`; what is no JSON is the daemon's to refuse. */
const hooksOf = async ({ flags, secret }: CommandInput): Promise<Json> => {
  if (flags['reset'] === true) return {}
  const text = await secret()
  try {
    const given: Json = JSON.parse(text)
    return unsafeCast<{ hooks?: Json } | null>(given)?.hooks ?? given
  } catch {
    return text
  }
}

const Changed = open({ config: open({ revision: integer() }) })

export const commands: readonly Command[] = [
  defineCommand({
    path: ['runtime', 'hooks', 'set'],
    route: `POST ${base}`,
    summary: 'Sets all hooks: what a file or standard input says, as JSON with the member hooks.',
    flags: {
      file: { kind: 'text', value: 'file', summary: 'Read them from this file.' },
      stdin: { kind: 'switch', summary: 'Read them from standard input.' },
      reset: { kind: 'switch', summary: 'Set none.' },
      'expected-revision': {
        kind: 'text',
        value: 'number',
        summary: 'Refuse if the settings are at another revision.',
      },
      'skip-hooks': { kind: 'switch', summary: 'Ask no hook whether the hooks may change.' },
    },
    oneOf: ['--file', '--stdin', '--reset'],
    fields: { 'body.expected_revision': '--expected-revision', 'body.settings': '--file' },
    async run(input) {
      const { client, flags } = input
      const revision = flags['expected-revision']
      return client.send('POST', base, {
        settings: { hooks: await hooksOf(input) },
        ...(typeof revision === 'string' && { expected_revision: Number(revision) }),
        ...(flags['skip-hooks'] === true && { skip_hooks: true }),
      })
    },
    answer: Changed,
    show: ({ config: { revision } }) => `Done. The settings are at revision ${revision}.`,
  }),
  defineCommand({
    path: ['runtime', 'hooks', 'get'],
    route: `GET ${base}`,
    summary: 'The hooks in force, with their secrets.',
    run: ({ client }) => client.get(base),
  }),
  defineCommand({
    path: ['runtime', 'hooks', 'dead-letter'],
    route: `GET ${base}/dead-letter`,
    summary: 'Invocations that failed for good.',
    run: ({ client }) => client.get(`${base}/dead-letter`),
  }),
  defineCommand({
    path: ['runtime', 'hooks', 'resolve-dead-letter'],
    route: `POST ${base}/dead-letter/{dead_letter_id}/resolve`,
    summary: 'Says that somebody has looked at a failed invocation.',
    args: ['dead_letter_id'],
    flags: { reason: { kind: 'text', summary: 'What was found.' } },
    fields: { 'body.reason': '--reason' },
    run: ({ client, args, flags }) =>
      client.send('POST', `${base}/dead-letter/${encodeURIComponent(args['dead_letter_id'] ?? '')}/resolve`, {
        ...(typeof flags['reason'] === 'string' && { reason: flags['reason'] }),
      }),
  }),
]
