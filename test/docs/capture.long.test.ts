/** What the guide to captures shows works, from the provision to the run. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { pngOf } from '../support/capture.js'
import { mainFile } from '../support/daemon.js'
import { startMortal } from '../support/mortal.js'
import { blocksFor, shBlocks } from '../support/docs.js'
import { freshFolder } from '../support/folders.js'

test('the blocks of the guide, as printed, bring a picture of a machine to a run', async (t) => {
  const daemon = await startMortal(t)
  const folder = freshFolder()
  writeFileSync(join(folder, 'picture.png'), pngOf(7))
  const holdfast = `holdfast() { SERVICE_DAEMON_URL=${daemon.url} '${process.execPath}' '${mainFile}' "$@"; }`
  const [provision = '', capture = '', ...looking] = blocksFor('docs/capture.md', 'capture')
  const once = `${capture.trim().replace('scrot -o "$CAPTURE_FILE"', `cp ${folder}/picture.png "$CAPTURE_FILE"`)} --once`
  t.not(once.replace(' --once', ''), capture.trim())
  const { printed, run } = await shBlocks([`${holdfast}\n${provision}`, once, ...looking], { url: daemon.url, folder })
  t.deepEqual([run.code, run.err], [0, ''], run.out)
  const [provisioned = '', captured = '', listed = '', asked = '', sent = ''] = printed
  t.regex(provisioned, /^Batch office: .*\ndesk {2}.*\/files\/desk\.toml/u)
  t.regex(
    captured,
    /desk is known to the daemon[^]*the first capture is with the daemon[^]*1 capture sent, nothing waits/u,
  )
  t.regex(listed, /^desk {2}macos {2}healthy/u)
  const { outputs } = JSON.parse(asked.slice(asked.indexOf('{'))) as { outputs: { run_id: string }[] }
  const run_id = outputs[0]?.run_id ?? ''
  const { body } = await daemon.request('GET', `/v1/runs/${run_id}`)
  t.is(body.input_attachments[0].media_type, 'image/png')
  t.like(JSON.parse(sent.slice(sent.indexOf('{'))), { source_id: 'door', idempotency_key: 'door-1' })
})
