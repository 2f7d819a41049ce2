/** Names of files as people type them behind `/attach`. */
import test from 'ava'
import { typedFile } from '../../../../../plugins/execution/runs/chat/typed-file.js'

test('command-line-36: a name of a file is read as a shell would, and blanks need no quotes', (t) => {
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
