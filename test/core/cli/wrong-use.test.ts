/** Wrong use of the command line is told in its own words and ends with 2. No daemon is asked. */
import test from 'ava'
import { inWordsOf } from '../../../core/cli/field-names.js'
import { findingsCommand } from '../../../core/cli/finding-commands.js'
import { explain } from '../../../core/cli/explain.js'
import { Problem } from '../../../core/base/errors.js'
import { createCommandLine } from '../../support/command-line.js'

const holdfast = createCommandLine({ url: 'http://127.0.0.1:9' })

test('an empty argument is refused by its name', async (t) => {
  for (const [line, argument] of [
    [['runs', 'get', ''], 'run_id'],
    [['runs', 'cancel', ' '], 'run_id'],
    [['sessions', 'end', ''], 'session_id'],
  ] as const) {
    const { code, err } = await holdfast(...line)
    t.deepEqual([code, err], [2, `holdfast: <${argument}> must not be empty (argument_empty)\n`])
  }
})

test('help of a group or command is that of --help, and a group alone says where its commands are', async (t) => {
  const { code, out } = await holdfast('help', 'runs')
  t.is(code, 0)
  t.is(out, (await holdfast('runs', '--help')).out)
  t.regex(out, /^holdfast runs\n[^]*runs submit/u)
  t.is((await holdfast('help', 'runs', 'get')).out, (await holdfast('runs', 'get', '--help')).out)
  const alone = await holdfast('state')
  t.is(alone.code, 2)
  t.regex(alone.err, /there is no command "state"; see holdfast state --help/u)
})

test('an address of a daemon has no path', async (t) => {
  const { code, err } = await createCommandLine({ url: 'http://127.0.0.1:9/v1' })('runs', 'list')
  t.deepEqual([code, err], [2, 'holdfast: --base-url must have no path: leave /v1 out (config_invalid)\n'])
})

test('what was acknowledged is said in words, and a missing flag is named with what it takes', async (t) => {
  t.is(findingsCommand.show?.({ acknowledged: 6 }), 'Acknowledged 6 findings.')
  const { code, err } = await holdfast('backup', 'restore', '/nowhere')
  t.deepEqual([code, err], [2, 'holdfast: backup restore needs --to FOLDER (flag_required)\n'])
})

test('a flag that the daemon refuses is wrong use too', (t) => {
  const command = { path: ['runs', 'list'], summary: '', flags: { limit: { kind: 'text', summary: '' } } } as const
  const refused = (path: string): Problem =>
    new Problem(
      'bad_request',
      { status: 400, detail: `${path} must be a number` },
      {
        errors: [{ path, rule: 'must be a number' }],
      },
    )
  const told = explain(inWordsOf({ ...command, run: async () => {} }, refused('query.limit')))
  t.deepEqual([told.code, told.text], [2, 'holdfast: --limit must be a number (bad_request)'])
  t.is(explain(inWordsOf({ ...command, run: async () => {} }, refused('body.other'))).code, 1)
})
