/** What the guide to files shows works, from the file that a run is given to the picture of a board. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { freshRoot, mainFile, startTestDaemon } from '../support/daemon.js'
import { startMortal } from '../support/mortal.js'
import { blocksFor, shBlocks } from '../support/docs.js'
import { freshFolder } from '../support/folders.js'

test('the blocks of the guide, as printed, take files in and out, draw on a board and derive words', async (t) => {
  const daemon = await startMortal(t)
  const folder = freshFolder()
  const holdfast = `holdfast() { SERVICE_DAEMON_URL=${daemon.url} '${process.execPath}' '${mainFile}' "$@"; }`
  const [first = '', ...blocks] = blocksFor('docs/files.md', 'files')
  const { printed, run } = await shBlocks([`${holdfast}\n${first}`, ...blocks], { url: daemon.url, folder })
  t.deepEqual([run.code, run.err], [0, ''], run.out)
  const [given = '', sent = '', drawn = '', derived = ''] = printed
  t.regex(given, /file {5}ferns\.md, text\/markdown, 18 B: holdfast assets download asset_[^]*Ferns need shade\./u)
  t.regex(sent, /output {3}Here it is\.\n {2}file {5}ferns\.md, [^]*copy\.md is written: 18 B\./u)
  t.is(readFileSync(join(folder, 'copy.md'), 'utf8'), 'Ferns need shade.\n')
  t.regex(drawn, /^plan {2}0 revisions {2}Garden plan[^]*revision_[^]*plan\.png is written/u)
  t.is(readFileSync(join(folder, 'plan.png')).subarray(1, 4).toString(), 'PNG')
  t.regex(derived, /canonical_text[^]*completed/u)
})

test('the routes of the guide are taken: one hears, one makes pictures and speech', async (t) => {
  const root = await freshRoot()
  mkdirSync(join(root, 'config'), { recursive: true })
  const routes = blocksFor('docs/files.md', 'files-routes').join('\n')
  writeFileSync(join(root, 'config/routes.toml'), `default_route = "demo"\n[routes.demo]\ndriver = "demo"\n${routes}`)
  const daemon = await startTestDaemon(t, { root })
  const { provider_readiness } = (await daemon.request('GET', '/v1/status')).body
  const known = new Map<string, any>(provider_readiness.routes.map((route: any) => [route.route_id, route]))
  t.deepEqual([...known.keys()].toSorted(), ['demo', 'ears', 'studio'])
  t.is(known.get('ears').capabilities.transcription, true)
  t.like(known.get('studio').capabilities, { image_generation: true, image_edit: true, audio_generation: true })
})
