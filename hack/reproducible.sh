# To be sourced. The same sources and the same Go version build identical programs for everyone: Go
# records nothing about the repository, and the user's own settings are ignored.
export GOFLAGS=-buildvcs=false GOAMD64=v1 GOARM64=v8.0 CGO_ENABLED=0
umask 022
