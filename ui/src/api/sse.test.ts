import { expect, test } from 'vitest'
import { SseParser } from './sse'

test('a message may come in pieces', () => {
  const parser = new SseParser()
  expect(parser.feed('event: nodes\nid: 7\nda')).toEqual([])
  expect(parser.feed('ta: {"a":1}\n')).toEqual([])
  expect(parser.feed('\n')).toEqual([{ event: 'nodes', id: '7', data: '{"a":1}' }])
  expect(parser.lastId).toBe('7')
})

test('comments keep the connection open and say nothing', () => {
  expect(new SseParser().feed(': hello\n\n')).toEqual([])
})

test('lines may end as on Windows, and data may have several', () => {
  expect(new SseParser().feed('data: a\r\ndata: b\r\n\r\n')).toEqual([{ event: 'message', id: '', data: 'a\nb' }])
})

test('the id stays until another comes', () => {
  const parser = new SseParser()
  parser.feed('id: 1\ndata: x\n\n')
  expect(parser.feed('data: y\n\n')[0]!.id).toBe('1')
})
