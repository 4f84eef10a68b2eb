module github.com/capfoo/cluster-api-provider-foo/node/contract

go 1.26.0
