import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { isLonger, page, pagerOf } from '../../../../core/cli/screen/pager.js'

test('what does not fit on the screen is long, also a single line that wraps', (t) => {
  const screen = { rows: 4, columns: 10 }
  t.false(isLonger('one\ntwo\nthree', screen))
  t.true(isLonger('one\ntwo\nthree\nfour', screen))
  t.true(isLonger('x'.repeat(31), screen))
  t.true(isLonger('語'.repeat(16), screen), 'each takes two columns')
  t.true(isLonger('\u0007'.repeat(6), screen), 'as it is shown')
})

test('the pager is given the whole text, made visible; where there is none the text is printed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-pager-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const text = `${'a line\n'.repeat(20_000)}the \u001b end`
  t.true(await page(text, `cat > ${folder}/shown`))
  t.is(await readFile(join(folder, 'shown'), 'utf8'), `${'a line\n'.repeat(20_000)}the \\u001b end\n`)
  t.true(await page(text, 'head -c 1 > /dev/null'), 'who leaves early has seen enough')
  t.false(await page(text, `${folder}/no-such-pager 2> /dev/null`))
  t.deepEqual(
    [pagerOf({ PAGER: 'more' }), pagerOf({}), pagerOf({ PAGER: '', LESS: 'R' })],
    ['more', 'less -FX', 'less'],
  )
})
