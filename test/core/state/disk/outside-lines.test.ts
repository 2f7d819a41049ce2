import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'

const script = `
const { openOutsideLines } = await import(process.argv[1])
const lines = openOutsideLines(process.argv[2], '{"a')
lines.append('{"a":1}')
try { lines.append('"' + 'x'.repeat(100_000) + '"') } catch (error) { console.log(error.code) }
lines.append('{"b":2}')
lines.close()
`

test('models-47: of a line for which the disk has no room nothing stands in the file', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'lines-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'f')
  const module = new URL('../../../../core/state/disk/outside-lines.js', import.meta.url).href
  // A bound on the bytes of a file stops a write in the middle, as a full disk does.
  const bounded = `ulimit -f 64; trap '' XFSZ; exec "$0" --input-type=module -e "$1" "$2" "$3"`
  const { stdout, stderr } = spawnSync('sh', ['-c', bounded, process.execPath, script, module, file], {
    encoding: 'utf8',
  })
  t.is(stdout, 'EFBIG\n', stderr)
  t.is(readFileSync(file, 'utf8'), '{"a":1}\n{"b":2}\n')
})
