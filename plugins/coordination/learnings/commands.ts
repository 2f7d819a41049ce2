/** The learning policy from the command line. */
import {
  defineCommand,
  integer,
  jsonObject,
  open,
  parse,
  type Command,
  type CommandInput,
  type Json,
} from '../../../core/plugin.js'

const path = '/v1/runtime/learning-policy'

/** What a file says, `{"policy":{…}}` or the policy itself; what is no JSON is the daemon's to refuse. */
const policyOf = async ({ flags, secret }: CommandInput): Promise<Json> => {
  if (flags['reset'] === true) return { mode: 'shadow' }
  if (typeof flags['mode'] === 'string') return { mode: flags['mode'] }
  const text = await secret()
  try {
    const given: Json = JSON.parse(text)
    const wrapped = parse(open({ policy: jsonObject() }), given)
    return wrapped.ok ? wrapped.value.policy : given
  } catch {
    return text
  }
}

export const commands: readonly Command[] = [
  defineCommand({
    path: ['runtime', 'learning-policy', 'get'],
    route: `GET ${path}`,
    summary: 'Shows what is done about learnings.',
    run: ({ client }) => client.get(path),
  }),
  defineCommand({
    path: ['runtime', 'learning-policy', 'set'],
    route: `POST ${path}`,
    summary: 'Sets what is done about learnings, all of it: what is not named gets its default.',
    flags: {
      mode: { kind: 'text', value: 'mode', summary: 'manual_only, shadow or enabled, and defaults for the rest.' },
      file: { kind: 'text', value: 'file', summary: 'Read the policy from this file, as JSON.' },
      stdin: { kind: 'switch', summary: 'Read the policy from standard input.' },
      reset: { kind: 'switch', summary: 'Set the defaults.' },
      'expected-revision': {
        kind: 'text',
        value: 'number',
        summary: 'Refuse if the settings are at another revision.',
      },
    },
    oneOf: ['--mode', '--file', '--stdin', '--reset'],
    fields: { 'body.expected_revision': '--expected-revision', 'body.policy': '--file', 'body.policy.mode': '--mode' },
    async run(input) {
      const revision = input.flags['expected-revision']
      return input.client.send('POST', path, {
        policy: await policyOf(input),
        ...(typeof revision === 'string' && { expected_revision: Number(revision) }),
      })
    },
    answer: open({ config: open({ revision: integer() }) }),
    show: ({ config: { revision } }) => `Done. The settings are at revision ${revision}.`,
  }),
]
