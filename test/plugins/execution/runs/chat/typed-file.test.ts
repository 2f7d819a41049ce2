/** Names of files as people type them behind `/attach`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { freshRoot } from '../../../../support/daemon.js'
import { typedFile, withFiles } from '../../../../../plugins/execution/runs/chat/typed-file.js'

test('command-line-41: a name of a file is read as a shell would, and blanks need no quotes', (t) => {
  const read = (text: string): string => typedFile(text, '/home/ann')
  t.is(read('my ferns.md'), 'my ferns.md')
  t.is(read('"my ferns.md"'), 'my ferns.md')
  t.is(read("'a\\b'/c"), 'a\\b/c')
  t.is(read(String.raw`my\ ferns.md`), 'my ferns.md')
  t.is(read(String.raw`"a \"b\".md"`), 'a "b".md')
  t.is(read('~/x.txt'), '/home/ann/x.txt')
  t.is(read('~/"my x".txt'), '/home/ann/my x.txt')
  t.is(read('"~/x.txt"'), '~/x.txt')
  t.is(read('~ann/x'), '~ann/x')
  t.is(read("don't.md"), "don't.md")
  t.is(typedFile('~/x', undefined), '~/x')
})

test('command-line-41: Tab goes on with the names of files behind /attach alone', async (t) => {
  const folder = join(await freshRoot(), 'files')
  mkdirSync(join(folder, 'deep'), { recursive: true })
  for (const name of ["don't.md", 'my ferns.md', '.hidden']) writeFileSync(join(folder, name), '')
  const tab = (text: string): string[] => withFiles(text, folder)
  t.deepEqual(tab('/attach ~/'), ['/attach ~/deep/', "/attach ~/don\\'t.md", '/attach ~/my ferns.md'])
  t.deepEqual(tab(`/attach ${folder}/my\\ f`), [`/attach ${folder}/my\\ ferns.md`])
  t.deepEqual(tab('/attach ~/.h'), ['/attach ~/.hidden'])
  t.deepEqual(tab('/attach ~/nosuch/'), [])
  t.deepEqual(tab('~/'), [])
})
