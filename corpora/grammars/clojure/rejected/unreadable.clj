#<Object>
