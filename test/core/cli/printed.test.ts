/** What a command prints is whole, or somebody is told that it is not. */
import test from 'ava'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freshRoot, mainFile } from '../../support/daemon.js'

interface Ended {
  readonly code: number
  readonly err: string
}
/** Runs a line of a shell in which `holdfast` is the command line and `$TO` a file. */
const shell = (line: string, to = '/dev/null'): Promise<Ended> =>
  new Promise((resolve) => {
    const text = `holdfast() { '${process.execPath}' '${mainFile}' "$@"; }; ${line}`
    const env = { PATH: process.env['PATH'], HOME: '/nonexistent', TO: to }
    const child = execFile('/bin/bash', ['-c', text], { env }, (_, __, err) =>
      resolve({ code: child.exitCode ?? -1, err }),
    )
  })

const told =
  'holdfast: standard output takes no more (REASON), so what was printed is not whole (output_unwritten)\n' +
  'Make room there, or print to another place, and ask again.\n'

test('command-line-47: a file that takes nothing, or only a part, is told, and the command ends with 1', async (t) => {
  t.deepEqual(await shell('holdfast --help > /dev/full'), { code: 1, err: told.replace('REASON', 'ENOSPC') })
  const to = join(await freshRoot(), 'printed')
  t.deepEqual(await shell('ulimit -f 4; holdfast --help > "$TO"', to), {
    code: 1,
    err: told.replace('REASON', 'EFBIG'),
  })
  t.is(readFileSync(to).length, 4096)
  t.deepEqual(await shell('holdfast --help > "$TO"', to), { code: 0, err: '' })
  t.true(readFileSync(to, 'utf8').endsWith('\n'))
  t.true(readFileSync(to).length > 4096)
})

test('command-line-47: a command that printed nothing has lost nothing: its code is its own', async (t) => {
  const { code, err } = await shell('holdfast nonsense > /dev/full')
  t.deepEqual({ code, err }, await shell('holdfast nonsense'))
  t.is(code, 2)
})

test('command-line-47: a reader that has enough is no fault', async (t) => {
  const refused = await shell('{ holdfast runs list --base-url http://127.0.0.1:9 2>&1; echo $? >&3; } 3>&2 | true')
  t.is(refused.err, '1\n', 'what failed has failed, also where nobody reads why')
  t.deepEqual(await shell('holdfast --help | head -1 > /dev/null; exit ${PIPESTATUS[0]}'), { code: 0, err: '' })
})
